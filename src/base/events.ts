export type EventLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error';

/** A kind of event: what its log line holds, and what it is called on a terminal. Log lines are an interface: programs read them. */
export interface EventKind<Payload> {
  readonly level: EventLevel | ((event: Payload) => EventLevel);
  readonly log: string | ((event: Payload) => string);
  /** The fields of its log line. */
  readonly fields?: (event: Payload) => object;
  /** What a person reads who watches the work; nothing where a command says it at its end, or where nobody watches. */
  readonly words?: (event: Payload, now: number) => string | undefined;
}

/** Declares a kind of event with what it holds. No event holds guest data or a text of the service. */
export function event<Payload extends object>(kind: EventKind<Payload>): EventKind<Payload> {
  return kind;
}

/** The events of a table of kinds, by the names that they have there. */
export type EventOf<Kinds, Name extends keyof Kinds = keyof Kinds> = {
  [Type in Name]: Kinds[Type] extends EventKind<infer Payload> ? { readonly type: Type } & Payload : never;
}[Name];

/** Whether an event is one of this table. */
export function isOneOf<Kinds extends object>(
  kinds: Kinds,
  event: { readonly type: string },
): event is EventOf<Kinds> & { readonly type: string } {
  return Object.hasOwn(kinds, event.type);
}
