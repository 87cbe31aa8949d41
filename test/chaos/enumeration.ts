import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crashPoints } from '../../config/crash.ts'
import { closeDatabase, makeKnex } from '../../db/connection.ts'
import type { Places } from './campaign.ts'
import { check } from './checker.ts'
import type { Violation } from './checker.ts'
import { conclude, reach } from './enumerate.ts'
import type { Reached } from './enumerate.ts'
import { mend } from './heal.ts'
import { openLedger } from './ledger.ts'
import { cases, nameOf } from './points.ts'
import { deathsOf, evidenceOf, furnish } from './setting.ts'
import { buildTown } from './town.ts'

/** So many cases one after the other before the checker looks: what one leaves behind heals while the next begins. */
const together = 5

/** Every point once, by name: a process dies there, and the checker looks on. `part` of their names chooses some; all where it is empty. */
export const enumeration = async (part: string, { built, folder, services }: Places): Promise<Violation[]> => {
  const lacking = crashPoints.filter((point) => !cases.some((one) => one.point === point))
  if (lacking.length > 0) throw new Error(`no case for ${lacking.join(', ')}`)
  const chosen = cases.filter((one) => nameOf(one).includes(part))
  if (chosen.length === 0) throw new Error(`no point is named ${part}`)
  mkdirSync(folder, { recursive: true })
  const town = await buildTown(built, folder, services, { api: 1, relay: 1, scheduler: 1, worker: 1 })
  const violations: Violation[] = []
  const lines: string[] = []
  const say = (line: string) => {
    lines.push(line)
    process.stdout.write(`${line}\n`)
  }
  try {
    const [house] = await furnish(town)
    if (!house) throw new Error('there is no house')
    await mend(town)
    const ledger = openLedger(join(folder, 'commands.jsonl'))
    const database = makeKnex(town.adminUrl(), 4)
    try {
      const scene = { town, database, house, ledger, folder }
      for (let from = 0; from < chosen.length; from += together) {
        const started = Date.now()
        const batch = chosen.slice(from, from + together)
        const reached: Reached[] = []
        for (const [index, one] of batch.entries()) reached.push(await reach(scene, one, from + index))
        const problems = await conclude(scene, reached)
        const found = await check(database, evidenceOf(town, ledger, { effects: [], poisoned: [], missed: [] }))
        for (const { name, problem } of problems) found.push({ rule: name, count: 1, examples: [problem] })
        violations.push(...found)
        const tookMs = Date.now() - started
        for (const one of batch) say(`${nameOf(one).padEnd(50)}${one.story}`)
        say(`${(tookMs / 1_000).toFixed(1).padStart(7)} s  ${found.length === 0 ? 'all hold' : 'VIOLATED'}`)
        for (const { rule, examples } of found) say(`         ${rule}: ${JSON.stringify(examples[0])}`)
      }
    } finally {
      await database.destroy()
    }
    violations.push(...deathsOf(town))
    return violations
  } finally {
    await closeDatabase()
    await town.stop()
    writeFileSync(join(folder, 'points.log'), `${lines.join('\n')}\n`)
  }
}
