/** Whom a campaign is for; all that are given must hold. Days are of the property. */
export type Segment = {
  stayedFrom?: string
  stayedTo?: string
  arrivalFrom?: string
  arrivalTo?: string
  minStays?: number
  minNights?: number
  countries?: string[]
  languages?: string[]
  tags?: string[]
  excludeTags?: string[]
  unitTypeIds?: string[]
  notStayedSince?: string
}

export const segmentFields = [
  'stayedFrom',
  'stayedTo',
  'arrivalFrom',
  'arrivalTo',
  'minStays',
  'minNights',
  'countries',
  'languages',
  'tags',
  'excludeTags',
  'unitTypeIds',
  'notStayedSince',
] as const satisfies readonly (keyof Segment)[]
