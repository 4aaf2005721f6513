const integer = /^-?\d+$/;
const decimal = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * A number of a JSON text, or NaN, which nobody takes for a number, where JavaScript's is another one: 1.00000000000000001
 * must not become hotel 1. A whole number that is too large stays what JavaScript makes of it: it is no safe integer,
 * which whoever reads it has to check anyhow.
 *
 * @param written a number as JSON writes it
 */
export function readExactNumber(written: string): number {
  const value = Number(written);
  if (integer.test(written)) return value;
  return reduce(written) === reduce(String(value)) ? value : Number.NaN;
}

/** One writing for all writings of the same number: 1.50, 15e-1 and 1.5 are 15e-1. */
function reduce(written: string): string | undefined {
  const [, sign, whole, fraction = '', exponent = '0'] = decimal.exec(written) ?? [];
  if (whole === undefined) return undefined;
  const digits = `${whole}${fraction}`;
  let end = digits.length;
  while (digits[end - 1] === '0') end -= 1;
  const figures = digits.slice(0, end).replace(/^0+/, '');
  return figures === ''
    ? '0'
    : `${sign}${figures}e${Number(exponent) - fraction.length + digits.length - end}`;
}
