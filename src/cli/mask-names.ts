/** A rendered booking item as people may see it: everything but the guest's name. */
export function readMaskedItem(line: string): Record<string, unknown> {
  const item = JSON.parse(line) as Record<string, unknown>;
  return 'BookingClientName' in item ? { ...item, BookingClientName: '***' } : item;
}
