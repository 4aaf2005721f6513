/** Progress of the watch; counts only. */
export type WatchEvent =
  /** This many of the runs that may have current and upcoming stays have been read. */
  | { readonly type: 'searching-stays'; readonly runs: number; readonly of: number }
  /** This many moves have been compared with the current and upcoming stays, with this many findings so far. */
  | { readonly type: 'moves-checked'; readonly checkedMoves: number; readonly findings: number }
  /** All moves since the last watch have been compared; there may have been none. */
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
