import type { Chart, Column, FileRow } from '../../db/reports/index.ts'
import { kindIn } from './source.ts'

/** A chart is a small picture: a file with more rows than this has none, since its marks would run together. */
export const mostMarks = 1_100
/** Bars stand for so many marks at most; more are drawn as lines. */
const mostBars = 62
/** So many figures stand at their bars; those of more are read from the table. */
const mostFigures = 16
const mostLabels = 12

export const chartHeight = 170
const plot = { left: 62, top: 34, bottom: 22 }
const ink = '#1f2933'
const faint = '#c8ced6'
// Without colours: the first series is filled or drawn through, the second is empty or dashed.
const looks = [
  { bar: `fill="${ink}" stroke="${ink}"`, line: `stroke="${ink}" stroke-width="1.4"` },
  { bar: `fill="#ffffff" stroke="${ink}"`, line: `stroke="${ink}" stroke-width="1" stroke-dasharray="3 2"` },
] as const

const escaped = (text: string) =>
  text.replace(/[&<>"]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[sign] ?? sign)
const at = (value: number) => value.toFixed(2)
const shortened = (text: string, most: number) => (text.length <= most ? text : `${text.slice(0, most - 1)}…`)

/** Value of a cell as a length; null where the table has none. */
const lengthOf = (value: FileRow[string]): number | null =>
  value === null || value === undefined || value === '' ? null : Number(value)

/** Up to five round steps that hold all values and zero. */
export const stepsOf = (values: readonly number[], isWhole: boolean): number[] => {
  const [least, most] = [Math.min(0, ...values), Math.max(0, ...values)]
  const rough = (most - least || 1) / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const nice = ([1, 2, 2.5, 5, 10].find((one) => one * power >= rough) ?? 10) * power
  const step = isWhole ? Math.max(1, Math.ceil(nice)) : nice
  const first = Math.floor(least / step)
  const last = Math.max(first + 1, Math.ceil(most / step))
  return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step)
}

type Mark = { label: string; values: (number | null)[]; figures: string[] }
type Drawn = {
  /** Rows of the file, all of them. */
  rows: readonly FileRow[]
  columns: readonly Column[]
  /** A cell as the table has it, in letters that the fonts have. */
  figure: (column: Column, row: FileRow) => string
  /** Points of the page. */
  width: number
}

/**
 * A chart as SVG, or null where its rows have nothing to compare. Each mark has a title with its label and the figure of the table, so that a reader finds the same
 * figures in both.
 */
export const chartOf = (chart: Chart, { rows, columns, figure, width }: Drawn): string | null => {
  const columnOf = (key: string) => columns.find((column) => column.key === key)
  const label = columnOf(chart.label)
  const series = chart.keys.flatMap((key) => columnOf(key) ?? [])
  const first = series[0]
  const taken = rows.filter((row) => chart.takes?.(row) !== false)
  if (!label || !first) return null
  const marks = taken.map((row): Mark => ({
    label: figure(label, row),
    values: series.map(({ key }) => lengthOf(row[key])),
    figures: series.map((column) => figure(column, row)),
  }))
  const shown = series.map((_, index) => index).filter((index) => marks.some(({ values }) => values[index] !== null))
  const values = marks.flatMap((mark) => shown.flatMap((index) => mark.values[index] ?? []))
  if (marks.length < 2 || values.every((value) => value === 0)) return null
  const [sample = {}] = taken
  const kind = kindIn(first, sample)
  const steps = stepsOf(values, kind !== 'ratio')
  const [low, high] = [steps[0] ?? 0, steps.at(-1) ?? 1]
  const [right, base] = [width - 4, chartHeight - plot.bottom]
  const y = (value: number) => base - ((value - low) / (high - low)) * (base - plot.top)
  const slot = (right - plot.left) / marks.length
  const x = (index: number) => plot.left + (index + 0.5) * slot
  const text = (left: number, top: number, content: string, more = '') =>
    `<text x="${at(left)}" y="${at(top)}"${more === '' ? '' : ` ${more}`}>${escaped(content)}</text>`
  const inStep = (value: number) =>
    figure(first, { ...sample, [first.key]: kind === 'ratio' ? value.toFixed(4) : Math.round(value) })
  const grid = steps.map(
    (step) =>
      `<line x1="${plot.left}" y1="${at(y(step))}" x2="${at(right)}" y2="${at(y(step))}" stroke="${step === 0 ? ink : faint}" stroke-width="0.5"/>` +
      text(plot.left - 4, y(step) + 2.2, inStep(step), 'text-anchor="end"'),
  )
  const every = Math.ceil(marks.length / mostLabels)
  const letters = Math.max(4, Math.floor((slot * every) / 3.6))
  const labels = marks.flatMap((mark, index) =>
    index % every === 0 ? [text(x(index), base + 11, shortened(mark.label, letters), 'text-anchor="middle"')] : [],
  )
  const legend = shown.map((of, place) => {
    const left = plot.left + place * 150
    return (
      (marks.length > mostBars
        ? `<line x1="${left}" y1="19" x2="${left + 14}" y2="19" ${looks[place]?.line}/>`
        : `<rect x="${left}" y="15" width="14" height="7" stroke-width="0.7" ${looks[place]?.bar}/>`) +
      text(left + 18, 21.5, series[of]?.title ?? '')
    )
  })
  const drawn = shown.map((of, place) =>
    marks.length > mostBars
      ? lineOf(marks, of, { x, y, look: looks[place]?.line ?? '' })
      : barsOf(marks, of, { x, y, slot, place, of: shown.length, look: looks[place]?.bar ?? '' }),
  )
  const body = [...grid, ...labels, ...legend, ...drawn].join('\n')
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${at(width)}" height="${chartHeight}" viewBox="0 0 ${at(width)} ${chartHeight}" font-family="Helvetica" font-size="6.5" fill="${ink}">\n${body}\n</svg>`
}

type Place = { x: (index: number) => number; y: (value: number) => number; look: string }

const titleOf = ({ label, figures }: Mark, of: number) => `<title>${escaped(`${label}: ${figures[of] ?? ''}`)}</title>`

const barsOf = (
  marks: readonly Mark[],
  series: number,
  { x, y, look, slot, place, of }: Place & { slot: number; place: number; of: number },
): string => {
  const wide = Math.min(28, (slot * 0.76) / of)
  return marks
    .map((mark, index) => {
      const value = mark.values[series] ?? null
      if (value === null) return ''
      const left = x(index) - (wide * of) / 2 + place * wide
      const [top, bottom] = [Math.min(y(0), y(value)), Math.max(y(0), y(value))]
      const bar = `<rect x="${at(left)}" y="${at(top)}" width="${at(wide)}" height="${at(bottom - top)}" stroke-width="0.7" ${look}>${titleOf(mark, series)}</rect>`
      if (marks.length * of > mostFigures) return bar
      return `${bar}<text x="${at(left + wide / 2)}" y="${at(top - 2)}" font-size="5.5" text-anchor="middle">${escaped(mark.figures[series] ?? '')}</text>`
    })
    .join('\n')
}

/** A line has gaps where the table has none of its figures. */
const lineOf = (marks: readonly Mark[], series: number, { x, y, look }: Place): string => {
  let isDown = false
  const path = marks.map(({ values }, index) => {
    const value = values[series] ?? null
    const move = value === null ? '' : `${isDown ? 'L' : 'M'}${at(x(index))} ${at(y(value))}`
    isDown = value !== null
    return move
  })
  const points = marks.map((mark, index) => {
    const value = mark.values[series] ?? null
    return value === null
      ? ''
      : `<circle cx="${at(x(index))}" cy="${at(y(value))}" r="0.6">${titleOf(mark, series)}</circle>`
  })
  return `<path d="${path.join('')}" fill="none" ${look}/>\n${points.join('')}`
}
