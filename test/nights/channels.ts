import { type Channel, ChannelError, type Message } from '../../src/notify/channel.js';
import type { Outside } from '../crash/outside.js';
import { surname } from './guests.js';
import type { Item, Told } from './heard.js';

/** How a channel takes messages: it accepts them, is busy, refuses our account, or takes them and its answer is lost. */
export const channelModes = ['works', 'busy', 'refuses', 'unheard'] as const;
export type ChannelMode = (typeof channelModes)[number];

/** One channel hears everything and always works; the other one hears of nights and urgent cases, and works as the history has it. */
export const [steady, moody] = ['ops', 'phone'] as const;

const url = 'http://127.0.0.1:1/';
const secret = `whsec_${Buffer.from('a secret that channels of nights share').toString('base64')}`;

/** The settings of both. They leave only what is worth less than a warning to the first one. */
export function notifySettings(everything: readonly string[]) {
  const common = { kind: 'webhook', url, secret };
  return [
    { ...common, name: steady, on: [...everything] },
    { ...common, name: moody, on: ['night', 'case-urgent'], minimum: 'warning' },
  ];
}

interface ChannelParts {
  readonly outside: Pick<Outside, 'clock' | 'reach'>;
  readonly onTold: (told: Told) => void;
}

/** Doubles of both channels, which outlive each process. */
export function createChannels({ outside, onTold }: ChannelParts) {
  let mode: ChannelMode = 'works';
  /** What the next message of each tells. */
  const composed = new Map<string, readonly Item[]>();

  function take(name: string, message: Message): void {
    // Nothing is sent in no time.
    outside.reach(outside.clock() + 1);
    const how = name === moody ? mode : 'works';
    const items = composed.get(name) ?? [];
    const about = { kind: 'told', at: outside.clock(), channel: name, id: message.id, items } as const;
    const hasArrived = how === 'works' || how === 'unheard';
    const code = { works: undefined, busy: 'http-503', refuses: 'http-401', unheard: 'timeout' }[how];
    onTold({ ...about, code, hasArrived, isConfirmed: how === 'works', faults: findFaults(message, items) });
    if (code !== undefined) throw new ChannelError(how, code, { mayHaveArrived: hasArrived });
  }

  return {
    setMode(next: ChannelMode): void {
      mode = next;
    },
    noteComposed: (name: string, items: readonly Item[]) => void composed.set(name, items),
    open: (): readonly Channel[] =>
      [steady, moody].map((name) => ({
        name,
        send: async (message) => take(name, message),
        close: async () => {},
      })),
  };
}

/** No message names a guest, and each says what it is about. */
function findFaults(message: Message, items: readonly Item[]): string[] {
  const { attachments = [], ...words } = message;
  const text = [JSON.stringify(words), ...attachments.map(({ content }) => content.toString())].join('\n');
  const [only] = items;
  const isAbout = message.event === only?.event && message.stage === only.stage && message.title !== '';
  const isOf = items.length > 1 ? message.counts.notices === items.length : message.day === only?.day;
  return [
    ...(text.includes(surname) ? [`a message names a guest: ${message.title}`] : []),
    ...(isAbout && isOf ? [] : [`a message of ${only?.event} says ${message.event}: ${message.title}`]),
  ];
}
