import { group, numberUpTo, textThat, wholeNumber } from '../base/setting-values.js';
import type { FieldKind } from '../booking/booking.js';
import { readField } from '../booking/field-text.js';

const yearInHours = 8_784;

/** A booking's field exactly as sent: cleaning must not change it, and it must not read as missing. */
const fieldText = (kind: FieldKind) =>
  textThat(
    (value) => readField(kind, value) === value,
    'a text without white space at its ends that does not stand for a missing value',
  );

/** An agreed, deliberately wrong pair. */
export const canary = group({
  serviceId: wholeNumber(1, Number.MAX_SAFE_INTEGER).describe(
    "The master hotel of the pair, which the provider's hotel is not.",
  ),
  providerName: fieldText('text').describe("The provider's name."),
  providerHotelId: fieldText('code').describe("The provider's hotel id, in quotes if it is a number."),
  withinHours: numberUpTo(yearInHours)
    .default(12)
    .describe('How many hours after its delivery an e-mail must have named it.'),
});
