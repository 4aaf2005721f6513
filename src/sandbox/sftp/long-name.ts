import type { Stats } from 'node:fs';

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const recentMs = 180 * 24 * 3_600_000;

/** One line as `ls -l` prints it, with numbers for owner and group: people read it, and some clients do. */
export function longNameOf(name: string, stats: Stats, now: number): string {
  const numbers = [
    String(stats.nlink).padStart(3),
    String(stats.uid).padEnd(8),
    String(stats.gid).padEnd(8),
    String(stats.size).padStart(8),
  ];
  return `${modeOf(stats)} ${numbers.join(' ')} ${timeOf(stats.mtime, now)} ${name}`;
}

function modeOf(stats: Stats): string {
  const kind = stats.isDirectory() ? 'd' : stats.isSymbolicLink() ? 'l' : '-';
  const bits = [...'rwxrwxrwx'].map((letter, index) => (stats.mode & (0o400 >> index) ? letter : '-'));
  return kind + bits.join('');
}

/** Of old and of future files the year is told instead of the hour. */
function timeOf(time: Date, now: number): string {
  const age = now - time.getTime();
  const two = (number: number) => String(number).padStart(2, '0');
  const hour = `${two(time.getHours())}:${two(time.getMinutes())}`;
  const last = age >= 0 && age < recentMs ? hour : ` ${time.getFullYear()}`;
  return `${months[time.getMonth()]} ${String(time.getDate()).padStart(2)} ${last}`;
}
