import { dialled } from './calling-codes.ts'

/** Countries without telephone numbers. */
const uninhabited = ['AQ', 'BV', 'GS', 'HM', 'PN', 'TF', 'UM']

const countries = new Set([...dialled, ...uninhabited])

/** ISO 3166-1 alpha-2, and XK, which is in use for Kosovo. No code of a union, of what is no more, or of nowhere (EU, SU, ZZ). */
export const isCountry = (code: string): boolean => countries.has(code)
