export const guest = 'Canaria Zwitscherfink';
/** A CSV file of that guest, and its sample. */
export const csv = `hotel;guest;arrival\n1;${guest};20/11/2026\n2;"Bob; B";21/11/2026\n`;
export const sampledCsv = {
  columns: ['hotel', 'guest', 'arrival'],
  records: [
    { hotel: '1', guest, arrival: '20/11/2026' },
    { hotel: '2', guest: 'Bob; B', arrival: '21/11/2026' },
  ],
  delimiter: ';',
};
/** Far more than a sample needs. */
export const longCsv = csv + '3;Carol;22/11/2026\n'.repeat(800_000);
