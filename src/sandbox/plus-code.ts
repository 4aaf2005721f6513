const digits = '23456789CFGHJMPQRVWX';
const pairs = 5;
/** Degrees of latitude and longitude that the last pair tells apart. */
const finest = 1 / 8_000;

/** The open location code of a place, to some 14 metres: `8CGRC78W+HV`. */
export function plusCodeOf(latitude: number, longitude: number): string {
  let north = Math.floor((latitude + 90) / finest);
  let east = Math.floor((longitude + 180) / finest);
  let code = '';
  for (let pair = 0; pair < pairs; pair += 1) {
    code = `${digits.charAt(north % 20)}${digits.charAt(east % 20)}${code}`;
    north = Math.floor(north / 20);
    east = Math.floor(east / 20);
  }
  return `${code.slice(0, 8)}+${code.slice(8)}`;
}
