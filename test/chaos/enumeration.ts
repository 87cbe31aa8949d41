import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crashPoints } from '../../config/crash.ts'
import { closeDatabase, makeKnex } from '../../db/connection.ts'
import type { Places } from './campaign.ts'
import { check } from './checker.ts'
import type { Violation } from './checker.ts'
import { runCase } from './enumerate.ts'
import { mend } from './heal.ts'
import { openLedger } from './ledger.ts'
import { cases, nameOf } from './points.ts'
import { deathsOf, evidenceOf, furnish } from './setting.ts'
import { buildTown } from './town.ts'

/** Every point once, by name: a process dies there, and the checker looks after each. `prefix` chooses some; all where it is empty. */
export const enumeration = async (prefix: string, { built, folder, services }: Places): Promise<Violation[]> => {
  const lacking = crashPoints.filter((point) => !cases.some((one) => one.point === point))
  if (lacking.length > 0) throw new Error(`no case for ${lacking.join(', ')}`)
  const chosen = cases.filter((one) => nameOf(one).startsWith(prefix))
  if (chosen.length === 0) throw new Error(`no point begins with ${prefix}`)
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
      for (const [number, one] of chosen.entries()) {
        const { name, problem, tookMs } = await runCase({ town, database, house, ledger, folder }, one, number)
        const found = await check(database, evidenceOf(town, ledger, { effects: [], poisoned: [], missed: [] }))
        if (problem !== null) found.push({ rule: 'the outcome is the usual one', count: 1, examples: [problem] })
        violations.push(...found.map((violation) => ({ ...violation, rule: `${name}: ${violation.rule}` })))
        say(
          `${name.padEnd(46)} ${(tookMs / 1_000).toFixed(1).padStart(6)} s  ${found.length === 0 ? 'holds' : 'VIOLATED'}`,
        )
        for (const { rule, examples } of found) say(`    ${rule}: ${JSON.stringify(examples[0])}`)
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
