/**
 * What a call of the service came to, named by what the runner must do next. (Design 6.)
 *
 * `answer` holds the service's own words. It may name a guest: it goes to the ledger and nowhere else.
 */
export type Verdict =
  | (Answered & { readonly kind: 'accepted' })
  | (Answered & {
      readonly kind: 'retryable';
      /** No clear answer came: the service may have taken the call. */
      readonly outcomeUnknown: boolean;
      /** The service's own wish, already read from `Retry-After`, not yet capped. */
      readonly retryAfterMs?: number;
      /** When its tries are spent it counts as refused, not as failed: an unknown code inside a 200. */
      readonly refusedWhenSpent: boolean;
    })
  | (Answered & { readonly kind: 'fatal' })
  | (Answered & { readonly kind: 'refused' });

interface Answered {
  /** Short and safe to show: `http-503`, `code-2009`, `timeout`, `connection-reset`. */
  readonly code: string;
  readonly httpStatus?: number;
  /** The envelope's StatusCode, where one was read. (Spec 2.1.) */
  readonly statusCode?: number;
  readonly answer?: string;
}

export type VerdictKind = Verdict['kind'];

/**
 * The review operations of the service, as far as the review needs them. They never throw for what the service or the
 * network does; they throw the signal's reason when aborted.
 */
export interface ReviewService {
  /**
   * POST /hotels/ReviewMappingsOfBookedHotels (spec 4.2).
   *
   * @param body the JSON request body, UTF-8
   */
  reviewBookedHotels(body: Uint8Array, options: { readonly signal: AbortSignal }): Promise<Verdict>;
  /**
   * GET /hotels/ReviewMappingsOfBookedHotelsByFile (spec 4.3). A GET with side effects: each call starts a review.
   *
   * @param ftpFilePath where the file lies on the SFTP server: `VerifyMappings/112026/20112026.csv`
   */
  reviewBookedHotelsByFile(ftpFilePath: string, options: { readonly signal: AbortSignal }): Promise<Verdict>;
  close(): Promise<void>;
}
