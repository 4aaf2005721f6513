import type { Event, History, ResultFile, Trouble } from './history.js';
import { type Entry, identify, nameOf } from './journal.js';

/** A history in sentences, one for each event. */
export function tellHistory(history: History): string[] {
  return history.map((event, index) => `${index + 1}. day ${event.day}: ${tellEvent(event)}`);
}

function tellEvent(event: Event): string {
  switch (event.kind) {
    case 'review': {
      const { how, by, source, results, isFollowed, trouble } = event;
      return [
        `${how} by ${by} of ${list(source)}`,
        ...results.map(tellResult),
        isFollowed && 'somebody follows up at each look',
        trouble && tellTrouble(trouble),
      ]
        .filter(Boolean)
        .join('; ');
    }
    case 'bad-export':
      return `${event.how}, while the export is ${event.form}, of ${list(event.source)}`;
    case 'look':
      return [
        'somebody runs it again',
        ...event.results.map(tellResult),
        event.trouble && tellTrouble(event.trouble),
      ]
        .filter(Boolean)
        .join('; ');
    case 'mail':
      return `an e-mail (${event.form}) names ${list(event.names)}`;
    case 'accept':
      return 'somebody accepts the affected bookings';
    case 'erase':
      return [`${event.guest} asks to be forgotten`, event.trouble && tellTrouble(event.trouble)]
        .filter(Boolean)
        .join('; ');
  }
}

function tellResult({ afterMs, part = '', names, wrong, isForeign }: ResultFile): string {
  const about = isForeign ? "somebody else's bookings" : names ? list(names) : 'all';
  return `after ${afterMs / 1000} s a result${part} about ${about}, incorrect: ${list(wrong)}`;
}

function tellTrouble({ at, kind }: Trouble): string {
  return kind === 'fails' ? `point ${at} fails` : `the process ${kind.replace('-', ' ')} point ${at}`;
}

function list(some: readonly string[]): string {
  return some.length === 0 ? 'nobody' : some.join(', ');
}

/** What the outside saw of it. */
export function tellJournal(journal: readonly Entry[]): string[] {
  return journal.map(tellEntry);
}

function tellEntry(entry: Entry): string {
  const name = (booking: string) => nameOf(booking, entry.day);
  switch (entry.kind) {
    case 'collected':
      return `- ${entry.run} by ${entry.by} collected ${list(entry.source)}${entry.isEarly ? ', early' : ''}`;
    case 'uncollected':
      return `- ${entry.run} could not be collected`;
    case 'sent': {
      const sent = list(entry.bookings.map(identify).map(name));
      return `- ${entry.run} sent by ${entry.by}${entry.isRepeated ? ' once more' : ''}: ${sent}`;
    }
    case 'result': {
      const rows = entry.rows.map(({ booking, isCorrect }) => `${name(booking)} ${isCorrect}`);
      return `- a result${entry.name} for ${entry.run}: ${list(rows)}`;
    }
    case 'mail':
      return `- an e-mail that named ${list(entry.names)}`;
    case 'accepted':
      return '- accepted';
    case 'erased':
      return `- ${entry.guest} was erased`;
  }
}
