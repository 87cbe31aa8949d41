import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crashPoints } from '../../config/crash.ts'
import { closeDatabase, makeKnex } from '../../db/lib/connection.ts'
import type { Places } from './campaign.ts'
import { check } from './checker.ts'
import type { Violation } from './checker.ts'
import type { House } from '../support/factories.ts'
import { conclude, reach, survivals } from './enumerate.ts'
import type { Reached } from './enumerate.ts'
import { mend } from './heal.ts'
import { openLedger } from './ledger.ts'
import { openInboxes } from './no-sayers.ts'
import type { Refusal } from './no-sayers.ts'
import { openOffers } from './offers.ts'
import { batchesOf, cases, chosenOf, nameOf } from './points.ts'
import { deathsOf, evidenceOf, furnish } from './setting.ts'
import type { Scene } from './stories.ts'
import { hireStaff } from './staff.ts'
import { buildTown } from './town.ts'

/** So many cases one after the other before the checker looks: what one leaves behind heals while the next begins. */
const together = 10

/** Every point once, by name: a process dies there, and the checker looks on. `parts` of their names choose some; all where there are none. */
export const enumeration = async (parts: string, { built, folder, services }: Places): Promise<Violation[]> => {
  const lacking = crashPoints.filter((point) => !cases.some((one) => one.point === point))
  if (lacking.length > 0) throw new Error(`no case for ${lacking.join(', ')}`)
  const chosen = chosenOf(parts)
  if (chosen.length === 0) throw new Error(`no point is named ${parts}`)
  mkdirSync(folder, { recursive: true })
  const town = await buildTown(built, folder, services, { api: 1, relay: 1, scheduler: 1, worker: 1 })
  const violations: Violation[] = []
  const lines: string[] = []
  const say = (line: string) => {
    lines.push(line)
    process.stdout.write(`${line}\n`)
  }
  try {
    const houses = await furnish(town)
    const [house] = houses
    const writing = houses.find(({ tenantId }) => tenantId !== house?.tenantId)
    if (!house || !writing) throw new Error('there is no house')
    await openOffers([writing])
    await mend(town)
    const ledger = openLedger(join(folder, 'commands.jsonl'))
    const database = makeKnex(town.adminUrl(), 4)
    try {
      const inboxes = await openInboxes([house, writing], await hireStaff([house, writing]))
      const sceneIn = (place: House): Scene => {
        const inbox = inboxes.get(place.propertyId)
        if (!inbox) throw new Error('the house hears no mail')
        return { town, database, house: place, ledger, folder, inbox, refusals }
      }
      const refusals: Refusal[] = []
      const scenes = { plain: sceneIn(house), letters: sceneIn(writing) }
      let number = 0
      for (const batch of batchesOf(chosen, together)) {
        const started = Date.now()
        const reached: Reached[] = []
        for (const one of batch) reached.push(await reach(scenes, one, number++))
        const problems = await conclude(scenes.plain, reached)
        const found = await check(
          database,
          evidenceOf(town, ledger, { effects: [], poisoned: [], missed: [] }, { refusals }),
        )
        for (const { name, problem } of problems) found.push({ rule: name, count: 1, examples: [problem] })
        violations.push(...found)
        const tookMs = Date.now() - started
        const lived = await survivals(database, reached)
        for (const one of batch) {
          const seconds = (lived.get(nameOf(one)) ?? 0) / 1_000
          say(
            `${nameOf(one).padEnd(55)}${one.story.padEnd(12)}${seconds > 0 ? `over ${seconds.toFixed(1)} s later` : ''}`,
          )
        }
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
