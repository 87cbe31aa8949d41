/** Pieces of each coin and note, by their value in minor units: `{"10000": 3, "500": 2}` are three notes of 100.00 and two of 5.00. */
export type Count = Readonly<Record<string, number>>

/** Minor units of a count. */
export const totalOf = (count: Count): number =>
  Object.entries(count).reduce((sum, [value, pieces]) => sum + Number(value) * pieces, 0)
