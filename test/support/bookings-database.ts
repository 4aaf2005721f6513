/** A database with a table of bookings: the tests' day, which are those of makeBookings, and others around it. */
export interface BookingsDatabase {
  /** Over TCP, with user and password. */
  readonly url: string;
  /** Not to be shown to anybody. */
  readonly password: string;
  /** The query waits before it hands over the row of that number, until the gate is opened or its server ends. */
  closeGate(row: number): Promise<Gate>;
  /** How many sessions are there of a source. */
  countSessions(): Promise<number>;
  /** An administrator ends the query of a source. */
  cancelQuery(): Promise<void>;
  /** An administrator ends the session of a source. */
  endSession(): Promise<void>;
  /** Stops what works for a source where it stands, as a disk that answers no more does. Answers what wakes it. */
  freeze(): Promise<() => void>;
  /** As a power failure does. */
  stopServer(): Promise<void>;
  startServer(): Promise<void>;
}

export interface Gate {
  /** For the query: one more column. */
  readonly column: string;
  /** Waits until the query has come so far. */
  reached(): Promise<void>;
  open(): Promise<void>;
}
