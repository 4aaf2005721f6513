import { expect, it } from 'vitest';
import { isActiveCase, keyOfCase, mappingStates, stateOfBooking } from '../../src/rules/case.js';

const today = '2026-11-20';

it.each([
  ['left', { checkIn: '2026-11-17', checkOut: '2026-11-19' }],
  ['open', { checkIn: '2026-11-17', checkOut: '2026-11-21' }],
  ['open', {}],
])('a booking of a case is %s until somebody resolves it: %j', (state, stay) => {
  const resolved = { as: 'rebooked', at: 0, isAutomatic: false } as const;
  expect(stateOfBooking(stay, today)).toBe(state);
  expect(stateOfBooking({ ...stay, resolved }, today)).toBe('resolved');
});

it('a case is over once its mapping was corrected, or somebody dismissed it', () => {
  const active = mappingStates.filter((state) => isActiveCase({ state }));
  expect(active).toEqual(['open', 'reported', 'escalated']);
});

it('the key of a case keeps its parts apart', () => {
  const key = { providerName: 'a', providerHotelId: 'b c', serviceId: 1 };
  expect(keyOfCase({ ...key, providerName: 'a b', providerHotelId: 'c' })).not.toBe(keyOfCase(key));
});
