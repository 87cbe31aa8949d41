import { addDays } from '../../../config/time.ts'

export type Rhythm = { every: number; unit: 'week' | 'month' | 'year'; day: number | null; firstOn: string }

const pad = (number: number) => String(number).padStart(2, '0')

/** The day of an occurrence, 0 the first. A day that a month does not have is its last one; the next occurrence has its own day again. */
export const occurrence = ({ every, unit, day, firstOn }: Rhythm, index: number): string => {
  if (unit === 'week') return addDays(firstOn, index * every * 7)
  const [year = 0, month = 1, first = 1] = firstOn.split('-').map(Number)
  const months = year * 12 + month - 1 + index * every * (unit === 'year' ? 12 : 1)
  const [inYear, inMonth] = [Math.floor(months / 12), (months % 12) + 1]
  const last = new Date(Date.UTC(inYear, inMonth, 0)).getUTCDate()
  return `${inYear}-${pad(inMonth)}-${pad(Math.min(day ?? first, last))}`
}

/** Index and day of the first occurrence after a day. */
export const occurrenceAfter = (rhythm: Rhythm, after: string, from = 0): { index: number; on: string } => {
  let index = from
  while (occurrence(rhythm, index) <= after) index += 1
  return { index, on: occurrence(rhythm, index) }
}
