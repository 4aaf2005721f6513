/**
 * The style of all charts, for pages that define the colours: --text, --faint, --line, --ground, --good, --bad, --busy and
 * --wait.
 */
export const chartStyle = `
.chart { margin: 0; } .chart figcaption { margin-bottom: .5rem; }
.chart figcaption span, .chart-legend, .timeline-words { color: var(--faint); font-size: .85rem; }
.chart svg, .bars svg { display: block; max-width: none; margin: 0; overflow: visible; }
.chart text { fill: var(--faint); font-size: 12px; font-variant-numeric: tabular-nums; }
.chart .strong { fill: var(--text); font-weight: 600; text-anchor: end; }
.chart path { vector-effect: non-scaling-stroke; }
.chart .tick, .shares .axis, .sparkline .base { stroke: var(--line); shape-rendering: crispEdges; }
.chart .sign { fill: var(--bad); font-size: 15px; font-weight: 700; text-anchor: middle;
  stroke: var(--card, var(--ground)); stroke-width: 3; paint-order: stroke; }
.chart-legend { display: flex; flex-wrap: wrap; gap: 0 1rem; margin: .2rem 0 0; overflow-wrap: anywhere; }
.chart-legend span { display: inline-flex; align-items: center; gap: .25rem; } .chart-legend svg { flex: none; }
.timeline { margin: 0; padding: 0; list-style: none; } .timeline-label { font-weight: 600; }
.timeline li { display: grid; grid-template-columns: 15rem minmax(0, 1fr); column-gap: 1rem; }
.timeline div { padding: .25rem 0; font-size: .9rem; line-height: 1.35; overflow-wrap: anywhere; } .timeline li > svg { height: 100%; }
.chart .now { stroke: var(--text); stroke-dasharray: 4 3; } .chart .attempt { stroke: var(--text); stroke-width: 1.5; }
.segment { fill: none; stroke: var(--busy); stroke-width: 8; } .segment.open { stroke-width: 14; stroke-dasharray: 6 3; }
.segment.wait { stroke: var(--wait); stroke-width: 3; } .segment.done { stroke: var(--good); stroke-width: 14; }
.segment.failed { stroke: var(--bad); stroke-width: 14; }
.chart .hotel-sketch { max-width: 26rem; width: 100%; } .hotel-sketch .map { fill: var(--ground); stroke: var(--line); }
.chart .hotel-sketch text { fill: var(--text); font-size: 13px; font-weight: 700; text-anchor: middle; }
.hotel-sketch path { fill: none; stroke: var(--text); stroke-width: 1.5; } .hotel-sketch .way { stroke: var(--bad); stroke-dasharray: 5 4; }
.chart .hotel-sketch .distance { stroke: var(--ground); stroke-width: 5; paint-order: stroke; }
.chart .hotel { fill: var(--busy); stroke: var(--ground); stroke-width: 2; } .chart rect.hotel { fill: var(--wait); }
.bars { margin: .5rem 0 0; padding: 0; max-width: 48rem; list-style: none; } .shares { max-width: 64rem; }
.bars li { display: grid; grid-template-columns: 12rem minmax(4rem, 1fr) 12rem; gap: .1rem .6rem; align-items: center; padding: .1rem 0; }
.bars.shares li { grid-template-columns: 12rem minmax(4rem, 1fr) 18rem 6rem; }
.bar-label { color: var(--faint); text-align: right; overflow-wrap: anywhere; } .bar-value { font-variant-numeric: tabular-nums; }
.bar { fill: var(--busy); } .bar.other { fill: var(--line); stroke: var(--faint); } .usual { stroke: var(--text); stroke-width: 2; }
.shares .bar { opacity: .6; } .whisker { stroke: var(--text); stroke-width: 1.5; }
.sparkline .line { fill: none; stroke: var(--busy); stroke-width: 1.5; } .sparkline circle { fill: var(--busy); }
@media (max-width: 40rem) {
  .chart .spare { display: none; } .timeline li { display: block; } .timeline li > svg { height: 44px; }
  .timeline li[aria-hidden] > svg { height: 20px; }
  .bars li, .bars.shares li { grid-template-columns: minmax(45%, 1fr) auto; padding: .25rem 0; }
  .bars svg[aria-hidden] { grid-area: 3 / 1 / 4 / 3; } .shares .bar-label { grid-column: 1 / 3; } .bar-label { text-align: left; }
}
`;
