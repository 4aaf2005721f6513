import { createHash } from 'node:crypto';
import { crc32, deflateRawSync } from 'node:zlib';
import { showInLine } from '../../src/base/foreign-text.js';
import { formatCountOf } from '../../src/base/format.js';
import { historyToJson, subjectOf, toHistory } from '../../src/cases/booking-history.js';
import type { PackedEvidence } from '../../src/desk/page.js';
import type { ReadOnlyLedger } from '../../src/ledger/ledger.js';
import { mappingToJson } from '../../src/ledger/mappings.js';
import { describeMapping, neverSynced } from '../../src/mappings/copied-hotels.js';
import {
  type Checksum,
  gatherEvidence,
  type MappingEvidence,
  type RunEvidence,
} from '../../src/review/guests/evidence.js';
import { renderAsSent } from '../../src/review/stored/as-sent.js';
import type { Case } from '../../src/rules/case.js';
import type { App } from '../app.js';
import { clock } from '../clock.js';
import { command, force, option } from '../command.js';
import { writeNamedFile } from '../output-files.js';
import { version } from '../process.js';
import { renderHistories } from './show.js';

/** Writes what proves what was done about a booking to a ZIP file; exits with 1 if no run contains the booking. */
export default command({
  place: ['past', 8],
  summary: 'write a ZIP file that proves what was done about a booking',
  usage: '<reference>',
  arguments: (reference: string) => ({ reference }),
  options: {
    out: option('--out <file>', "the file to write; it holds the guest's name if that is still kept", {
      required: true,
    }),
    force,
  },
  examples: `
It contains the booking as sent, each attempt, the verdict, its rows in the
day's file and in the result, its mapping's history, checksums and an index.

Example:
  hotel-review evidence BR-1042 --out BR-1042.zip`,

  async run(app, { reference, ...file }) {
    const none = { reference, out: null, runs: [] };
    const ledger = await app.findLedger();
    if (!ledger) return app.answerNone(none);
    const { inRuns, subject, files } = await gatherFiles(app, ledger, reference);
    if (inRuns.length === 0) {
      const canary = await ledger.canaries.findByReference(reference);
      return app.answerNone(
        none,
        canary
          ? `${reference} is no booking but the canary of ${canary.day}: ${app.command(`show ${reference}`)}`
          : `${showInLine(reference)} is in no run of this ledger.`,
      );
    }
    const out = app.locate(file.out);
    // It holds the guest's name, so nothing is written without a record.
    const details = { out, runs: inRuns.length };
    await app.record({ action: 'evidence', subject, details });
    const packed = zip(files, new Date(clock()));
    await writeNamedFile({ option: '--out', name: file.out, force: file.force }, app, (add) => add(packed));
    const runs = inRuns.map(({ run }) => ({ runId: run.id, day: run.day }));
    return app.answer(
      `${formatCountOf(files.length, 'file')} about ${formatCountOf(runs.length, 'run')} in ${file.out} (${formatCountOf(packed.length, 'byte')}). Keep it safe: it may hold the guest's name.`,
      { reference, out, bytes: packed.length, runs, files: files.map(({ name }) => name) },
    );
  },
});

/** The same as the content of a ZIP file; undefined if no run contains the booking. */
export async function packEvidence(
  app: App,
  ledger: ReadOnlyLedger,
  reference: string,
): Promise<PackedEvidence | undefined> {
  const { inRuns, subject, files } = await gatherFiles(app, ledger, reference);
  return inRuns.length === 0 ? undefined : { zip: zip(files, new Date(clock())), subject };
}

/** The content of the ZIP: a folder for each run, and an index as text and as JSON. */
async function gatherFiles(app: App, ledger: ReadOnlyLedger, reference: string) {
  const stores = { ledger, archive: app.archive(), spool: app.spool() };
  const { runs, mappings } = await gatherEvidence(stores, reference, app.signal);
  const { readUntil: emailsReadUntil } = await ledger.mails.describeMailbox();
  const inRuns = runs.map((run) => ({ ...run, emailsReadUntil }));
  const cases: Case[] = [];
  for (const { id } of await ledger.cases.findBookings(reference)) {
    const found = await ledger.cases.find(id);
    if (found) cases.push(found);
  }
  const ofRuns = inRuns.flatMap(listFiles);
  const sums = ofRuns.map(({ name, content }) => ({
    name,
    bytes: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
  }));
  const writtenAt = new Date(clock()).toISOString();
  const tool = `booked-hotel-review ${version}`;
  const index = {
    ...{ reference, writtenAt, tool },
    runs: inRuns.map((one) => ({ folder: folderOf(one), ...runEvidenceToJson(one) })),
    mappings: mappings.map(mappingEvidenceToJson),
    cases: cases.map(({ id, state, origins, providerName, providerHotelId, serviceId, openedAt }) => ({
      ...{ id, state, origins, providerName, providerHotelId, serviceId },
      openedAt: new Date(openedAt).toISOString(),
    })),
    files: sums,
  };
  const histories = inRuns.flatMap((one) => toHistories(one, false));
  const lines = [
    `Evidence on the booking ${showInLine(reference)}`,
    `written at ${writtenAt} by ${tool}`,
    '',
    'sent-N.json or sent-N.csv is the booking as it was sent, byte for byte, with the guest’s name where that is',
    'still kept: in the request body (json) or as a row of the file on the SFTP server (csv). history.json has each',
    'attempt and the verdict, rows.json the rows about the booking in the day’s file and in the result, with their',
    'lines. Times are in UTC.',
    '',
    `${formatCountOf(inRuns.length, 'run')}:`,
    '',
    renderHistories(reference, histories, false),
    ...inRuns.flatMap(describeFiles),
    'The mapping, as the local copy saw it:',
    ...mappings.map(describePair),
    ...(mappings.length === 0 ? ['  the booking names no hotel of a provider'] : []),
    '',
    ...cases.map(
      ({ id, state, origins, openedAt }) =>
        `Case ${id}: ${state}, found by ${origins.join(', ')}, opened at ${new Date(openedAt).toISOString()}`,
    ),
    ...(cases.length > 0 ? [''] : []),
    'Checksums of these files (SHA-256):',
    ...sums.map(({ name, sha256 }) => `${sha256}  ${name}`),
    '',
  ];
  return {
    inRuns,
    subject: subjectOf(reference, histories),
    files: [
      { name: 'index.txt', content: Buffer.from(lines.join('\n')) },
      { name: 'index.json', content: toJsonFile(index) },
      ...ofRuns,
    ],
  };
}

/** With the time until when the mailbox was read. */
type DatedEvidence = RunEvidence & { readonly emailsReadUntil: number | undefined };

const folderOf = ({ run }: RunEvidence) => `${run.day}_${run.id}`;
const toJsonFile = (value: unknown) => Buffer.from(`${JSON.stringify(value, null, 2)}\n`);

function listFiles(evidence: DatedEvidence): { readonly name: string; readonly content: Buffer }[] {
  const folder = folderOf(evidence);
  const { run, traces, rows, manifest } = evidence;
  const sent = traces.flatMap((trace) => (trace.kind === 'booking' ? [trace] : []));
  return [
    ...sent.map(({ line, stream }, index) => ({
      // Exactly the bytes in the request body or the file.
      name: `${folder}/sent-${index + 1}.${stream === 'file' ? 'csv' : 'json'}`,
      content: renderAsSent(run, stream, line),
    })),
    { name: `${folder}/history.json`, content: toJsonFile(runEvidenceToJson(evidence)) },
    ...(rows.length > 0 ? [{ name: `${folder}/rows.json`, content: toJsonFile(rows) }] : []),
    ...(manifest ? [{ name: `${folder}/manifest.json`, content: manifest }] : []),
  ];
}

function toHistories({ traces, renderedAgain, emailsReadUntil }: DatedEvidence, withAnswers: boolean) {
  return traces.map((trace, index) =>
    toHistory(trace, { withAnswers, emailsReadUntil, renderedAgain: renderedAgain[index] }),
  );
}

function runEvidenceToJson(evidence: DatedEvidence) {
  const { run, checksums } = evidence;
  const toInstant = (at: number | undefined) => (at === undefined ? null : new Date(at).toISOString());
  const { id: runId, day, delivery, trigger, state } = run;
  return {
    ...{ runId, day, delivery, trigger, state },
    startedAt: toInstant(run.startedAt),
    collectedAt: toInstant(run.collectedAt),
    finishedAt: toInstant(run.finishedAt),
    namesRemovedAt: toInstant(run.namesBlankedAt),
    guestErasedAt: toInstant(run.guestErasedAt),
    remotePath: run.file?.remotePath ?? null,
    checksums,
    bookings: toHistories(evidence, true).map(historyToJson),
  };
}

function mappingEvidenceToJson({ copied, isSynced, ...pair }: MappingEvidence) {
  return copied
    ? mappingToJson(copied.mapping, copied.moves)
    : {
        ...{ ...pair, serviceId: null, copy: isSynced ? 'unmapped' : 'never-synced' },
        ...{ firstSeenAt: null, history: [] },
      };
}

function describePair({ copied, isSynced, providerName, providerHotelId }: MappingEvidence): string {
  if (copied) return describeMapping(copied.mapping, copied.moves).join('\n');
  const name = `  ${showInLine(providerName)} ${showInLine(providerHotelId)}`;
  return isSynced ? `${name} is not in the local copy` : `${name}: ${neverSynced}`;
}

function describeFiles({ run, rows, checksums }: RunEvidence): string[] {
  const lines = [
    ...rows.map(
      ({ place, name, records }) =>
        `  ${showInLine(name)} (${place}): ${formatCountOf(records.length, 'row')}, line ${records.map(({ line }) => line).join(', ')}`,
    ),
    ...checksums.map((sum) => `  ${showInLine(sum.name)}: ${describeSum(sum)}`),
  ];
  return lines.length === 0 ? [] : [`Files of run ${run.id}:`, ...lines, ''];
}

function describeSum({ recorded, archived, removed = 'no longer in the archive' }: Checksum): string {
  if (recorded === undefined) return `sha256 ${archived}`;
  if (archived === undefined) return `sha256 ${recorded} as recorded; ${removed}`;
  return archived === recorded
    ? `sha256 ${recorded}, and the archive holds the same`
    : `sha256 ${recorded} as recorded, but the archive holds ${archived}`;
}

// Version 2.0 of the format, names in UTF-8, compressed by Deflate.
const [zipVersion, namesInUtf8, deflate] = [20, 0x800, 8];

/** A ZIP of a few small files. */
function zip(files: readonly { readonly name: string; readonly content: Buffer }[], at: Date): Buffer {
  const entries: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content } of files) {
    const bytes = Buffer.from(name);
    const packed = deflateRawSync(content);
    // The part that the entry and its line in the directory have in common.
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(zipVersion, 0);
    facts.writeUInt16LE(namesInUtf8, 2);
    facts.writeUInt16LE(deflate, 4);
    facts.writeUInt16LE((at.getHours() << 11) | (at.getMinutes() << 5) | (at.getSeconds() >> 1), 6);
    facts.writeUInt16LE(((at.getFullYear() - 1980) << 9) | ((at.getMonth() + 1) << 5) | at.getDate(), 8);
    facts.writeUInt32LE(crc32(content), 10);
    facts.writeUInt32LE(packed.length, 14);
    facts.writeUInt32LE(content.length, 18);
    facts.writeUInt16LE(bytes.length, 22);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    const entry = Buffer.concat([Buffer.from('PK\x03\x04'), facts, bytes, packed]);
    directory.push(Buffer.from('PK\x01\x02'), Buffer.from([zipVersion, 0]), facts, rest, bytes);
    entries.push(entry);
    offset += entry.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(listed.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...entries, listed, Buffer.from('PK\x05\x06'), end]);
}
