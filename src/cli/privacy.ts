import { formatCount, wrapText } from '../text/format.js';
import type { Encryption, Place, ProcessingRecord, Recipient } from './processing-record.js';

/** Written files that a terminal shows. */
const shown = 20;

export function renderProcessing(record: ProcessingRecord, command: (line: string) => string): string {
  const { categories, places, recipients, rights, writtenFiles } = record;
  const left = writtenFiles.length - shown;
  return [
    'Record of processing',
    '',
    ...section('Purpose', [record.purpose]),
    ...section('Whose data', [record.dataSubjects.join('; ')]),
    ...section(
      'Which data',
      categories.map(({ category, fields }) => `${category}: ${fields.join(', ')}`),
    ),
    ...section("Guests' names", [`${record.guestNames.meaning} (guestNames: ${record.guestNames.setting})`]),
    ...section('Where it comes from', [record.source]),
    ...section('Where it is kept, since when, until when', places.flatMap(describePlace)),
    ...section('Encryption at rest', [describeEncryption(record.encryption)]),
    ...section('Files that people exported', [
      ...writtenFiles.slice(-shown).map(({ at, who, path }) => `${at}  ${who}: ${path}`),
      ...(left > 0 ? [`and ${left} earlier ones: ${command('audit --json')}`] : []),
      ...(writtenFiles.length === 0 ? ['none'] : []),
    ]),
    ...section('Who receives it', recipients.flatMap(describeRecipient)),
    ...section('Not here', [record.notKept, record.elsewhere]),
    ...section(
      'Answers to requests (GDPR)',
      rights.map(({ article, command: line }) => `article ${article}: ${command(line)}`),
    ),
  ].join('\n');
}

function describeEncryption(encryption: Encryption | null): string {
  if (!encryption)
    return "none: guests' names in ledger, archive and spool are stored as they are (setting keys)";
  const { keys, days, since } = encryption;
  const held = `${formatCount(days)} day keys${since === null ? '' : `, since ${since}`}`;
  return `guests' names in ledger, archive and spool, under a key per business day (AES-256-GCM); keys in ${keys}: ${held}; destroyed with the names`;
}

function section(title: string, lines: readonly string[]): string[] {
  return [`${title}:`, ...lines.flatMap(wrapIndented), ''];
}

/** Indents continuation lines as far as the line. */
function wrapIndented(line: string): string[] {
  return wrapText(line, line.startsWith(' ') ? 6 : 2);
}

function describePlace({ place, location, categories, count, unit, since, until }: Place): string[] {
  const amount = count === null ? 'could not be checked' : `${formatCount(count)} ${units[unit]}`;
  const from = since === null ? '' : `, since ${since}`;
  return [`${place}: ${location}`, `  ${categories.join(', ')}: ${amount}${from}`, `  until ${until}`];
}

const units = { booking: 'bookings', file: 'files', entry: 'entries' };

function describeRecipient({ recipient, location, categories, purpose }: Recipient): string[] {
  return [`${recipient}: ${location}`, `  ${categories.join(', ')}`, `  ${purpose}`];
}
