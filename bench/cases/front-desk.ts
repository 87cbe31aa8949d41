import type { Bench } from '../bench.ts'
import { commands } from '../desk/commands.ts'
import { groups } from '../desk/groups.ts'
import { people } from '../desk/people.ts'
import { reads } from '../desk/reads.ts'

/** The day of a front desk: its commands, the pages that it reads, its searches and its groups. */
export const bench: Bench = async ({ admin }) => {
  const parts = [await commands(), await reads(admin), await groups(), await people(admin)]
  return { results: parts.flatMap((part) => part.results), notes: parts.flatMap((part) => part.notes) }
}
