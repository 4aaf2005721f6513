import { type History, kindOf } from './history.js';
import { type Entry, identify, nameOf } from './journal.js';
import { listNames } from './results.js';

/** A history in sentences, one for each event. */
export function tellHistory(history: History): string[] {
  return history.map((event, index) => `${index + 1}. day ${event.day}: ${kindOf(event).tell(event)}`);
}

/** What the outside saw of it. */
export function tellJournal(journal: readonly Entry[]): string[] {
  return journal.map(tellEntry);
}

function tellEntry(entry: Entry): string {
  const name = (booking: string) => nameOf(booking, entry.day);
  switch (entry.kind) {
    case 'collected':
      return `- ${entry.run} by ${entry.by} collected ${listNames(entry.source)}${entry.isEarly ? ', early' : ''}`;
    case 'uncollected':
      return `- ${entry.run} could not be collected`;
    case 'sent': {
      const sent = listNames(entry.bookings.map(identify).map(name));
      return `- ${entry.run} sent by ${entry.by}${entry.isRepeated ? ' once more' : ''}: ${sent}`;
    }
    case 'result': {
      const rows = entry.rows.map(({ booking, isCorrect }) => `${name(booking)} ${isCorrect}`);
      return `- a result${entry.name} for ${entry.run}: ${listNames(rows)}`;
    }
    case 'mail':
      return `- an e-mail that named ${listNames(entry.names)}`;
    case 'mail of pairs':
      return `- an e-mail that named the hotels of ${listNames(entry.names)}`;
    case 'purged':
      return '- names that were due were removed';
    case 'told': {
      const told = entry.rows.map(({ hotel, to = 'nothing' }) => `${hotel} is ${to}`);
      return `- the copy was told: ${listNames(told)}${entry.all ? '' : ', and more is to come'}`;
    }
    case 'synced':
      return entry.isWatched ? '- synced' : '- the sync was left undone';
    case 'helped':
      return `- the case of ${entry.pair}: ${entry.action} ${entry.reference}`;
    case 'accepted':
      return '- accepted';
    case 'erased':
      return `- ${entry.guest} was erased`;
    case 'channel':
      return `- the second channel ${entry.mode}`;
    case 'export':
      return `- an export ${entry.what}`;
    case 'restored':
      return entry.isGone ? '- the ledger is gone' : `- the ledger knows the first ${entry.entries} of these`;
    case 'warned':
      return `- status ${entry.hasProblem ? 'warned of it' : 'said nothing of it'}, and named ${listNames(entry.named)}`;
    case 'replayed':
      return `- its day was ${entry.isSent ? '' : 'not '}sent again`;
  }
}
