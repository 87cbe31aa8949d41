import { createHash } from 'node:crypto'
import { addDays } from './time.ts'

/** The id of a record in an example, by the name of its field or path parameter: `sampleId('propertyId')`. One name has one id, always. */
export const sampleId = (name: string): string => {
  const hex = createHash('sha256').update(`sample ${name}`).digest('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  )
}

/** A day to come in an example, so many days ahead. Tests put a day of theirs in its place, as many days ahead of the house's own. */
export const sampleDay = (ahead: number): string => addDays('2027-01-01', ahead)
