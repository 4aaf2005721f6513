import { type Coordinates, measureKm } from '../geography/distance.js';
import { showInLine } from '../text/foreign-text.js';
import { formatKilometres } from '../text/format.js';
import { type Html, html } from '../text/html.js';
import { type Point, round } from './figure.js';

/** A hotel, and where it is if that is known. */
export interface SketchedHotel {
  readonly name: string;
  readonly place?: Coordinates | undefined;
}

const [width, height] = [320, 200];
/** How far apart the two points are drawn, at most. */
const [spanX, spanY] = [200, 104];
const middle: Point = { x: width / 2, y: 94 };
/** Hotels closer than this are drawn at one place: coordinates are no more exact. */
const samePlaceKm = 0.01;
/** The longest scale bar, in pixels. */
const longestBar = 90;
const radians = Math.PI / 180;
const directions = ['north', 'north-east', 'east', 'south-east', 'south', 'south-west', 'west', 'north-west'];

/**
 * Two hotels with north up, from nothing but their coordinates: a circle and a square, the distance, and a scale. Undefined
 * unless both places are known.
 */
export function renderHotelSketch(a: SketchedHotel, b: SketchedHotel): Html | undefined {
  if (!isOnEarth(a.place) || !isOnEarth(b.place)) return undefined;
  const km = measureKm(a.place, b.place);
  const bearing = findBearing(a.place, b.place);
  const isSamePlace = km < samePlaceKm;
  const words = isSamePlace ? 'A and B are at the same place.' : `B is ${nameWay(km, bearing)} of A.`;
  return html`<figure class="chart hotel-sketch"><svg role="img" aria-label="${words}" viewBox="0 0 ${width} ${height}">
<rect class="map" width="${width}" height="${height}" rx="6"/>${isSamePlace ? renderPlace() : renderWay(km, bearing)}
<path class="north" d="M300 36V14m-5 8l5-8l5 8"/><text x="300" y="50" text-anchor="middle">N</text></svg>
<figcaption><span><strong>A</strong> ${showInLine(a.name)}</span> <span><strong>B</strong> ${showInLine(b.name)}</span> <span>${words}</span></figcaption></figure>
`;
}

/** 230 m north-east */
function nameWay(km: number, bearing: number): string {
  return `${formatDistance(km)} ${directions[Math.round(bearing / (45 * radians)) % directions.length]}`;
}

function renderPlace(): Html {
  return html`${renderHotels(middle, middle)}<text class="hotel-name" x="${middle.x}" y="${middle.y - 16}">A, B</text>`;
}

function renderWay(km: number, bearing: number): Html {
  const [east, south] = [Math.sin(bearing), -Math.cos(bearing)];
  const length = Math.min(spanX / Math.abs(east), spanY / Math.abs(south));
  /** @param way from A, in pixels */
  const pointAt = (way: number): Point => ({
    x: round(middle.x + east * (way - length / 2)),
    y: round(middle.y + south * (way - length / 2)),
  });
  const [from, to, beforeFrom, beyondTo] = [pointAt(0), pointAt(length), pointAt(-18), pointAt(length + 18)];
  const scaleKm = findScale((longestBar * km) / length);
  const bar = round((scaleKm * length) / km);
  return html`<path class="grid" d="${drawGrid(from, bar)}"/>
<line class="way" x1="${from.x}" y1="${from.y}" x2="${to.x}" y2="${to.y}"/>${renderHotels(from, to)}
<text class="hotel-name" x="${beforeFrom.x}" y="${beforeFrom.y + 5}">A</text><text class="hotel-name" x="${beyondTo.x}" y="${beyondTo.y + 5}">B</text>
<text class="distance" x="${middle.x}" y="${middle.y + 4}">${formatDistance(km)}</text>
<path class="north" d="M12 182v6h${bar}v-6"/><text x="${bar + 18}" y="191">${formatDistance(scaleKm).replace('.0 ', ' ')}</text>`;
}

function renderHotels(a: Point, b: Point): Html {
  return html`<rect class="hotel" x="${round(b.x - 8)}" y="${round(b.y - 8)}" width="16" height="16"/><circle class="hotel" cx="${a.x}" cy="${a.y}" r="6"/>`;
}

/** Grid lines, as far apart as the scale bar is long. */
function drawGrid(from: Point, step: number): string {
  const places = (start: number, end: number) => {
    const first = start % step;
    return Array.from({ length: Math.floor((end - first) / step) + 1 }, (_, index) =>
      round(first + index * step),
    );
  };
  return [
    ...places(from.x, width).map((x) => `M${x} 0v${height}`),
    ...places(from.y, height).map((y) => `M0 ${y}h${width}`),
  ].join('');
}

/** The largest of 1, 2 and 5 times a power of ten that is not longer. */
function findScale(km: number): number {
  const power = 10 ** Math.floor(Math.log10(km));
  return [5, 2, 1].map((factor) => factor * power).find((length) => length <= km) ?? power;
}

function isOnEarth(place: Coordinates | undefined): place is Coordinates {
  return place !== undefined && Math.abs(place.latitude) <= 90 && Math.abs(place.longitude) <= 180;
}

/** The initial direction of the shortest way, clockwise from north, in radians. */
function findBearing(from: Coordinates, to: Coordinates): number {
  const [fromLatitude, toLatitude] = [from.latitude * radians, to.latitude * radians];
  const turn = (to.longitude - from.longitude) * radians;
  const east = Math.sin(turn) * Math.cos(toLatitude);
  const north =
    Math.cos(fromLatitude) * Math.sin(toLatitude) -
    Math.sin(fromLatitude) * Math.cos(toLatitude) * Math.cos(turn);
  return (Math.atan2(east, north) + 2 * Math.PI) % (2 * Math.PI);
}

/** Below a kilometre in metres. */
function formatDistance(km: number): string {
  return km < 0.9995 ? `${Math.round(km * 1000)} m` : formatKilometres(km);
}
