import type { CaseLedger } from '../src/cases/case-store.js';
import { exitCode } from '../src/cli/exit-code.js';
import { type EraseReceipt, renderErasure } from '../src/cli/guest.js';
import type { Config } from '../src/config/load.js';
import { rememberReference } from '../src/review/erasures.js';
import { type ErasedPlaces, type EraseParts, eraseKept } from '../src/review/guests/erase-guest.js';
import type { Erasure } from '../src/review/guests/erase-records.js';
import { eraseRemote } from '../src/review/guests/erase-remote.js';
import { findGuest, type Guest } from '../src/review/guests/guest.js';
import type { Ledger } from '../src/review/ledger.js';
import type { Retention } from '../src/review/retention.js';
import { createNameMask } from '../src/text/mask-names.js';
import { UsageError } from '../src/text/usage-error.js';
import { recordAction } from './audit.js';
import { clearRemains } from './clear-remains.js';
import { clock } from './clock.js';
import { openArchive, openLedger, openSftp, openSpool, withReadOnlyLedger } from './parts.js';
import type { Terminal } from './terminal.js';

export interface EraseRequest {
  readonly reason: string;
  readonly all: boolean;
  readonly dryRun: boolean;
}

/**
 * Removes a guest from everything that is kept, and remembers them as a keyed hash. Exits with 1 if something is left, for
 * example because a run is unfinished or the SFTP server permits no change.
 */
export async function eraseOneGuest(
  config: Config,
  reference: string,
  request: EraseRequest,
  terminal: Terminal,
): Promise<number> {
  const { hashKey } = config;
  if (hashKey === undefined)
    throw new UsageError(
      'an erased guest is remembered as a keyed hash, so that a replay does not bring the name back: set hashKey to a text of at ' +
        'least 16 characters, such as openssl rand -base64 32 prints; keep it, and give it to all processes',
    );
  const none = await withReadOnlyLedger(
    config,
    (notice) => notice,
    async () => undefined,
  );
  if (none !== undefined) {
    terminal.answer(`${none}\n`, { ...request, erased: [], left: [], remembered: [], remains: null });
    return exitCode.failed;
  }
  const ledger = await openLedger(config);
  try {
    const receipt = await eraseFrom(config, ledger, { reference, hashKey, ...request }, terminal);
    terminal.answer(renderErasure(receipt), receipt);
    return receipt.left.length === 0 ? exitCode.done : exitCode.failed;
  } finally {
    await ledger.close();
  }
}

interface EraseOrder extends EraseRequest {
  readonly reference: string;
  readonly hashKey: string;
}

async function eraseFrom(
  config: Config,
  ledger: CaseLedger & Pick<Retention, 'clearRemains'>,
  { reference, hashKey, reason: given, all, dryRun }: EraseOrder,
  terminal: Terminal,
): Promise<EraseReceipt> {
  const { signal } = terminal;
  const at = clock();
  const guest = await findGuest(ledger, reference);
  const reason = maskNames(given, guest);
  const remembered = rememberReference(reference, hashKey, at);
  const { kind, hash } = remembered;
  const subject = `erased:${hash.slice(0, 16)}`;
  await recordAction(ledger, { action: 'guest-erase', subject, details: { reason, all, dryRun } }, terminal);
  // First, so that a run that starts now brings nothing back.
  if (!dryRun) await ledger.rememberErased([remembered]);
  if (!dryRun) await ledger.cases.eraseNotes(reference);
  if (all && !dryRun) {
    // Where it stands outside of bookings.
    await ledger.cases.eraseReference(reference);
    await ledger.audit.replaceSubject(reference, subject);
  }
  const erasure: Erasure = { guest, all, at };
  const spool = openSpool(config);
  const options = { dryRun, signal };
  const kept = { ledger, archive: openArchive(config), spool };
  // The ledger knows what to look for, so it comes last.
  const onServer = await eraseOnServer(config, kept, erasure, options);
  const { erased, left } = await eraseKept(kept, erasure, options);
  const remains = dryRun ? undefined : await clearRemains(config, ledger);
  return {
    at: new Date(at).toISOString(),
    reason,
    all,
    dryRun,
    remembered: [{ kind, hash }],
    erased: [...erased, ...onServer.erased],
    left: [...left, ...onServer.left],
    remains: remains ?? null,
  };
}

/** The reason is kept in the audit trail, where no name belongs. */
function maskNames(reason: string, { names, rejects }: Guest): string {
  const mask = createNameMask([reason], undefined);
  for (const name of names) mask.add(name);
  for (const { value } of rejects) if (value !== undefined) mask.add(value);
  return mask.apply(reason);
}

async function eraseOnServer(
  config: Config,
  kept: EraseParts & { readonly ledger: Ledger },
  erasure: Erasure,
  options: { readonly dryRun: boolean; readonly signal: AbortSignal },
): Promise<Pick<ErasedPlaces, 'erased' | 'left'>> {
  if (config.file.sftp === undefined) return { erased: [], left: [] };
  const { runs } = await eraseKept(kept, erasure, { ...options, dryRun: true });
  const sftp = openSftp(config);
  try {
    const { ledger, spool } = kept;
    return await eraseRemote({ ledger, spool, timezone: config.timezone, sftp }, runs, erasure, options);
  } finally {
    await sftp.close();
  }
}
