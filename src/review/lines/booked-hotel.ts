/** Which hotel a kept line books, as far as it can be told without reading the line. */
export interface BookedHotel {
  readonly serviceId: number;
  /** Provider and hotel id as they stand in the line, in its form: the same for the same ones. */
  readonly key: string;
}
