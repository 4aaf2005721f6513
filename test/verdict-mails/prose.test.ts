import { describe, expect, it } from 'vitest';
import { readSentence, splitClauses } from '../../src/verdict-mails/prose.js';

describe('A sentence', () => {
  it.each([
    'All mappings are correct.',
    'All of them are correct:',
    'We have checked 20 bookings and all of them are correct.',
    'Everything is correct',
    'No incorrect mappings were found.',
    'The review found 0 bookings with an incorrect mapping.',
    'None of the bookings is wrong',
    'All hotels are mapped correctly',
    'All bookings below are correctly mapped.',
    'Todas las reservas son correctas:',
    'No se han encontrado reservas incorrectas',
    'Alle Buchungen sind korrekt.',
    'Keine falschen Zuordnungen',
    'Toutes les réservations sont correctes',
    'Tutte le prenotazioni sono corrette',
    'Todas as reservas estão corretas',
  ])('may call everything correct: %s', (text) => {
    expect(readSentence(text)).toBe('all-correct');
  });

  it.each([
    'BR-1042 is correct',
    'The mapping of BR-1042 is correct.',
    'BR-1042 is correctly mapped',
    'Bookings whose mapping is correct:',
  ])('may call its bookings correct: %s', (text) => {
    expect(readSentence(text)).toBe('correct');
  });

  it.each([
    'BR-1042 is incorrect.',
    'BR-1042 is not correct',
    "The mapping of BR-1042 isn't correct",
    'No, BR-1042 is wrong',
    'We found 2 incorrect mappings',
    'La reserva BR-1042 no es correcta',
    'Not all mappings are incorrect: BR-1042',
    'BR-1042 wurde falsch zugeordnet',
  ])('may call them incorrect: %s', (text) => {
    expect(readSentence(text)).toBe('incorrect');
  });

  it.each([
    'Please correct BR-1042.',
    'BR-1042 must be moved to the correct hotel',
    'Correct hotel of BR-1042: Riverside Inn',
    'Please check whether the mapping of BR-1042 is correct.',
    'All other mappings are correct.',
    'The rest of the bookings is correct',
    'All mappings are correct except these:',
    'All prices are correct at the time of sending.',
    'Your payment was made without errors',
    'The following bookings need your attention: BR-1042',
    'x'.repeat(5_000),
  ])('may say nothing certain about them: %s', (text) => {
    expect(readSentence(text)).toBeUndefined();
  });

  it('is read clause by clause', () => {
    expect(
      splitClauses('The mapping of BR-1 is correct, but that of BR-2 is wrong').map(readSentence),
    ).toEqual(['correct', 'incorrect']);
    expect(splitClauses('BR-1 is correct. BR-2 is not.')).toEqual(['BR-1 is correct.', 'BR-2 is not.']);
  });
});
