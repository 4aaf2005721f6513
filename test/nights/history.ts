import { type Accept, accept } from './events/accept.js';
import { type BadExport, badExport } from './events/bad-export.js';
import { type ChannelChange, channel } from './events/channel.js';
import { type Erase, erase } from './events/erase.js';
import type { EventKind } from './events/event.js';
import { type Export, exported } from './events/export.js';
import { type Help, help } from './events/help.js';
import { type Look, look } from './events/look.js';
import { type Mail, mail } from './events/mail.js';
import { type Purge, purge } from './events/purge.js';
import { type Restore, restore } from './events/restore.js';
import { type Review, review } from './events/review.js';
import { type Sync, sync } from './events/sync.js';
import { troubleKinds } from './trouble.js';

/** All that can happen: one file for each kind of event. */
export type Event =
  | (Review | BadExport | Look | Mail | Accept | Erase | Purge)
  | (ChannelChange | Export | Sync | Help | Restore);

export type History = readonly Event[];

const eventKinds: { readonly [Kind in Event['kind']]: EventKind<Extract<Event, { kind: Kind }>> } = {
  review,
  'bad-export': badExport,
  look,
  mail,
  accept,
  erase,
  purge,
  channel,
  export: exported,
  sync,
  help,
  restore,
};

/** For each kind of event, the same of any event. */
export const listEventKinds: readonly EventKind<Event>[] = Object.values(eventKinds);

export function kindOf({ kind }: Event): EventKind<Event> {
  return eventKinds[kind];
}

/** All that can come about: what went wrong on the way is a kind, too. */
export const allKinds: readonly string[] = [
  ...new Set([...listEventKinds.flatMap(({ kinds }) => kinds), ...troubleKinds]),
];

/** Each event after each other one, in the form of `createSightings`. */
export const allPairs: readonly string[] = Object.keys(eventKinds).flatMap((before) =>
  Object.keys(eventKinds).map((after) => `${before} → ${after}`),
);
