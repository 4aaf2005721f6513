/** Progress of the watch; counts only. */
export type WatchEvent =
  /** So many of the runs in which stays may be ahead are read. */
  | { readonly type: 'searching-stays'; readonly runs: number; readonly of: number }
  /** So many moves are compared with the upcoming stays, and this many mappings of stays are not as booked. */
  | { readonly type: 'moves-checked'; readonly checkedMoves: number; readonly findings: number }
  /** All moves since the last watch are compared; there may have been none. */
  | ({ readonly type: 'mappings-watched' } & WatchCounts);

export interface WatchCounts {
  readonly checkedMoves: number;
  /** Mappings that were re-pointed or deleted, and their bookings. */
  readonly endangered: number;
  /** Those of them that were deleted. */
  readonly unmapped: number;
  readonly bookings: number;
  /** Mappings whose master hotel was merged into another one. */
  readonly merged: number;
  /** Cases that were dismissed because a merge is complete. */
  readonly dismissed: number;
}
