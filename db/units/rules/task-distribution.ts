/** A task to be given away. Those of one `floor` are near one another. */
export type Piece = { id: string; credits: number; floor: string }
export type Share = {
  attendantId: string
  maxCredits: number
  /** Credits of the tasks that the attendant already has for the day, */
  credits: number
  /** and where the last of it is. */
  floor: string | null
}
export type SharedOut = { given: Map<string, string>; left: string[] }

/**
 * Shares out tasks in their order (R23): each goes to the attendant with the fewest credits so far that may take it; among equals to one on its floor, then
 * to the first named. Answers the attendant of each task, and the tasks that fit no attendant.
 */
export const shareOut = (pieces: readonly Piece[], shares: readonly Share[]): SharedOut => {
  const now = shares.map((share) => ({ ...share }))
  const given = new Map<string, string>()
  const left: string[] = []
  for (const { id, credits, floor } of pieces) {
    const fitting = now.filter((share) => share.credits + credits <= share.maxCredits)
    const fewest = Math.min(...fitting.map((share) => share.credits))
    const equals = fitting.filter((share) => share.credits === fewest)
    const taker = equals.find((share) => share.floor === floor) ?? equals[0]
    if (!taker) {
      left.push(id)
      continue
    }
    taker.credits += credits
    taker.floor = floor
    given.set(id, taker.attendantId)
  }
  return { given, left }
}
