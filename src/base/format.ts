const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** An integer: 1234567 as 1,234,567. Without `Intl`, whose first use takes longer than most commands. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** "1 step", "2 steps" */
export function formatCountOf(count: number, thing: string): string {
  return `${formatCount(count)} ${thing}${count === 1 ? '' : 's'}`;
}

/** Below a minute with tenths of a second, above it in whole units: 2 h 5 min 12 s */
export function formatDuration(elapsed: number): string {
  // A clock may have been set back meanwhile.
  const tenths = Math.round(Math.max(0, elapsed) / 100);
  if (tenths < 600) return `${(tenths / 10).toFixed(1)} s`;
  let left = tenths * 100;
  const parts = units.map(([unit, length]) => {
    const count = Math.floor(left / length);
    left -= count * length;
    return count > 0 ? `${count} ${unit}` : '';
  });
  return parts.filter((part) => part !== '').join(' ');
}

export function formatRate(done: number, milliseconds: number): string {
  if (milliseconds < 500) return '';
  return `${formatCount(Math.round((done * 1000) / milliseconds))}/s`;
}

/** 1234567 as 1.2 MB */
export function formatBytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Below a hundred with a tenth. */
export function formatKilometres(km: number): string {
  return `${km < 100 ? km.toFixed(1) : formatCount(Math.round(km))} km`;
}

export function formatByteRate(bytes: number, milliseconds: number): string {
  if (milliseconds < 500) return '';
  return `${formatBytes((bytes * 1000) / milliseconds)}/s`;
}

/** An instant for people: UTC, to the second. */
export function formatInstant(instant: number): string {
  return `${new Date(instant).toISOString().slice(0, 19).replace('T', ' ')}Z`;
}

/** An instant for people in a time zone, to the minute: 2026-11-21 03:30 */
export function formatLocalInstant(instant: number, timezone: string): string {
  if (timezone === 'UTC') return formatInstant(instant).slice(0, '2026-11-21 03:30'.length);
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone: timezone,
    dateStyle: 'short',
    timeStyle: 'short',
  });
  return format.format(new Date(instant));
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** 2026-11-26 as 26 Nov 2026 */
export function formatDay(iso: string): string {
  const [year, month, day] = iso.split('-').map(Number);
  return `${day} ${months[(month ?? 1) - 1]} ${year}`;
}

/** An instant on a page: 26 Nov 2026, 21:30 */
export function formatDayAndTime(instant: number, timezone: string): string {
  const [day = '', time] = formatLocalInstant(instant, timezone).split(' ');
  return `${formatDay(day)}, ${time}`;
}

/** Cuts a text that is longer than there is room for, and shows that it was cut. */
export function shorten(text: string, most: number): string {
  // Half a character must not remain.
  return text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** Indented lines that fit into 80 columns, without breaking words. */
export function wrapText(text: string, indent = 2): string[] {
  const line = new RegExp(`\\S.{0,${79 - indent}}(?=\\s|$)|\\S+`, 'g');
  return (text.match(line) ?? []).map((words) => `${' '.repeat(indent)}${words.trimEnd()}`);
}
