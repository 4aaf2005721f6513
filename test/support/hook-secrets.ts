/** Secrets of the end-of-day hook: it accepts none of fewer than 24 bytes. */
export const hookSecret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
export const nextHookSecret = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
export const plainHookSecret = 'a plain secret that no sender decodes';
