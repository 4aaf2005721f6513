/** What a by-file call is answered with. */
export type FileAnswer = { readonly kind: 'taken'; readonly rows: number } | FileRefusal;

export interface FileRefusal {
  readonly kind: 'refused';
  readonly statusCode: number;
  /** Names no guest. */
  readonly message: string;
}

/** The codes that a live deployment is known to have for these. (Design 6.) */
const statusCodes = {
  internal: 2001,
  'bad-request': 2002,
  'bad-hotel-data': 2009,
  'path-missing': 2020,
  'hotels-missing': 2021,
} as const;

export function refuse(reason: keyof typeof statusCodes, message: string): FileRefusal {
  return { kind: 'refused', statusCode: statusCodes[reason], message };
}
