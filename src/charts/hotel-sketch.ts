import { type Coordinates, findBearing, measureKm } from '../geography/distance.js';
import { showInLine } from '../text/foreign-text.js';
import { formatKilometres } from '../text/format.js';
import { type Html, html } from '../text/html.js';
import { type Point, renderFigure, round } from './figure.js';

/** A hotel, and where it is if that is known. */
interface SketchedHotel {
  readonly name: string;
  readonly place?: Coordinates | undefined;
}

const [width, height] = [320, 190];
/** How far apart the two points are drawn, at most. */
const [spanX, spanY] = [200, 104];
const middle: Point = { x: width / 2, y: 94 };
/** Hotels closer than this are drawn at one place: coordinates are no more exact. */
const samePlaceKm = 0.01;
const directions = ['north', 'north-east', 'east', 'south-east', 'south', 'south-west', 'west', 'north-west'];

/**
 * Two hotels with north up, from nothing but their coordinates: a circle and a square, and the distance. Undefined unless both
 * places are known.
 */
export function renderHotelSketch(a: SketchedHotel, b: SketchedHotel): Html | undefined {
  if (!isOnEarth(a.place) || !isOnEarth(b.place)) return undefined;
  const km = measureKm(a.place, b.place);
  const bearing = findBearing(a.place, b.place);
  const distance = km < 0.9995 ? `${Math.round(km * 1000)} m` : formatKilometres(km);
  const direction = directions[Math.round(bearing / (Math.PI / 4)) % directions.length];
  const isSamePlace = km < samePlaceKm;
  const words = isSamePlace ? 'A and B are at the same place.' : `B is ${distance} ${direction} of A.`;
  return renderFigure({
    title: words,
    content: html`<svg class="hotel-sketch" role="img" aria-label="${words}" viewBox="0 0 ${width} ${height}">
<rect class="map" width="${width}" height="${height}" rx="6"/><path class="north" d="M300 36V14m-5 8l5-8l5 8"/><text x="300" y="50">N</text>
${isSamePlace ? html`${drawSquare(middle)}${drawCircle(middle)}<text x="${middle.x}" y="${middle.y - 16}">A, B</text>` : drawWay(bearing, distance)}</svg>
`,
    legend: [
      [`A: ${showInLine(a.name)}`, drawCircle({ x: 13, y: 11 })],
      [`B: ${showInLine(b.name)}`, drawSquare({ x: 13, y: 11 })],
    ],
  });
}

function drawWay(bearing: number, distance: string): Html {
  const [east, south] = [Math.sin(bearing), -Math.cos(bearing)];
  const length = Math.min(spanX / Math.abs(east), spanY / Math.abs(south));
  /** @param way from the middle, in pixels */
  const pointAt = (way: number): Point => ({
    x: round(middle.x + east * way),
    y: round(middle.y + south * way),
  });
  const [from, to] = [pointAt(-length / 2), pointAt(length / 2)];
  const [a, b] = [pointAt(-length / 2 - 18), pointAt(length / 2 + 18)];
  return html`<path class="way" d="M${from.x} ${from.y}L${to.x} ${to.y}"/>${drawSquare(to)}${drawCircle(from)}
<text x="${a.x}" y="${a.y + 5}">A</text><text x="${b.x}" y="${b.y + 5}">B</text>
<text class="distance" x="${middle.x}" y="${middle.y + 4}">${distance}</text>`;
}

function drawCircle({ x, y }: Point): Html {
  return html`<circle class="hotel" cx="${x}" cy="${y}" r="6"/>`;
}

function drawSquare({ x, y }: Point): Html {
  return html`<rect class="hotel" x="${round(x - 8)}" y="${round(y - 8)}" width="16" height="16"/>`;
}

function isOnEarth(place: Coordinates | undefined): place is Coordinates {
  return place !== undefined && Math.abs(place.latitude) <= 90 && Math.abs(place.longitude) <= 180;
}
