import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Knex } from 'knex'
import { sql } from '../../db/lib/connection.ts'
import { until } from '../support/until.ts'
import { insistentClient } from './client.ts'
import { holdAsGuest } from './guest.ts'
import type { Guest } from './guest.ts'
import { quiescence, replayInnocent, untilOver, untilReconciled } from './heal.ts'
import { begin } from './letter-stories.ts'
import { isOfLetters, missedWithinMs, nameOf } from './points.ts'
import type { Case } from './points.ts'
import { randomOf } from './random.ts'
import { ends, foundOf, play } from './stories.ts'
import type { Scene } from './stories.ts'

/** A case whose point was reached or not, with the guest whose outcome tells the rest, and the jobs of its kind that were under way when it was. */
export type Reached = { case: Case; problem: string | null; guest: Guest | null; at: Date; jobIds: string[] }

/** The house of most stories, and one that writes more. */
export type Scenes = { plain: Scene; letters: Scene }

const reachedWithinMs = 40_000

/** The step of a story that leads to its point; that of letters comes after all that would come to the point before it. */
const stepOf = async (scene: Scene, one: Case, guest: Guest): Promise<() => Promise<void>> =>
  isOfLetters(one.story) ? begin(scene, one.story, guest) : () => play(scene, one, guest)

const underWay = async (database: Knex, kind: string): Promise<string[]> =>
  (
    await sql<{ id: string }>(database, `select id from jobs where kind = ? and status in ('dispatched', 'running')`, [
      kind,
    ])
  ).map((row) => row.id)

/** Lets the one process of its kind die at a point, once, while a guest books. What follows from it is not waited for. */
export const reach = async (scenes: Scenes, one: Case, number: number): Promise<Reached> => {
  const scene = isOfLetters(one.story) ? scenes.letters : scenes.plain
  const { town, database, house, ledger, folder } = scene
  const name = nameOf(one)
  const marker = join(folder, `reached-${number}`)
  const random = randomOf(number, name)
  const apis = town.fleet.of('api').map((each) => each.baseUrl)
  const members = town.fleet.of(one.process)
  const arm = async () => {
    await Promise.all(members.map((member) => member.hold('term')))
    for (const member of members) member.start({ CRASH_AT: `${name}@${marker}` })
    await town.fleet.ready()
  }
  const isOfHold = one.kind === 'public.reservations.hold'
  if (isOfHold) await arm()
  const guest = await holdAsGuest(insistentClient(apis, ledger), random, apis, house, {
    arrival: 12 + (number % 60),
    nights: 1,
    saver: false,
    email: `point-${number}@guests.example`,
    from: `127.9.${number % 250}.${(number % 200) + 2}`,
  })
  if (!guest) return { case: one, problem: 'nothing could be held', guest, at: new Date(), jobIds: [] }
  const stuck = await stepOf(scene, one, guest)
    .then(async (step) => {
      if (!isOfHold) await arm()
      await step()
    })
    .then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : String(error)),
    )
  const reached = await until(() => existsSync(marker), { withinMs: reachedWithinMs, everyMs: 50, what: name }).catch(
    () => false,
  )
  const at = new Date()
  const jobIds = reached && one.process === 'worker' ? await underWay(database, one.kind) : []
  if (!reached) {
    await Promise.all(members.map((member) => member.hold('kill')))
    for (const member of members) member.start()
  }
  return { case: one, problem: stuck ?? (reached ? null : 'the point was never reached'), guest, at, jobIds }
}

/** The time that each job lived on that was under way when its process died, by kind; Infinity for survivors. */
export const survivals = async (database: Knex, cases: readonly Reached[]): Promise<Map<string, number>> => {
  const found = await Promise.all(
    cases.map(async ({ case: one, at, jobIds }) => {
      const [row] = await sql<{ live: boolean; last: Date | null }>(
        database,
        `select exists (select from jobs where id = any(:jobIds) and status <> 'dead') as live,
           (select max(finished_at) from job_archive where id = any(:jobIds)) as last`,
        { jobIds },
      )
      const ms = row?.live ? Infinity : Math.max(0, (row?.last?.getTime() ?? 0) - at.getTime())
      return [nameOf(one), ms] as const
    }),
  )
  return new Map(found)
}

/** Waits for the end of each story, for rest, and for what waits for its time. Answers what is not as it should be, by name. */
export const conclude = async (
  { town, database }: Scene,
  cases: readonly Reached[],
): Promise<{ name: string; problem: string }[]> => {
  await town.fleet.ready()
  const problems = cases.flatMap(({ case: one, problem }) => (problem === null ? [] : [{ name: nameOf(one), problem }]))
  const differing = async () => {
    const found = await Promise.all(
      cases.map(async ({ case: one, guest }) => {
        const end = guest && JSON.stringify(await foundOf(database, guest.bookingId))
        return end === null || end === JSON.stringify(ends[one.story])
          ? []
          : [{ name: nameOf(one), problem: `ended as ${end}` }]
      }),
    )
    return found.flat()
  }
  // One worker dies again and again here, so that who is in hand with each may be taken for poison.
  const isOver = async () => {
    await replayInnocent(database)
    // A job whose process died while it was read is not due before minutes have passed, which nobody waits for here.
    await sql(
      database,
      `update refund set next_read_at = now() where status = 'unknown' and next_read_at > now() + interval '20 seconds'`,
    )
    return (await differing()).length === 0
  }
  await until(isOver, { withinMs: 60_000, everyMs: 500 }).catch(() => false)
  // Jobs of a process that died are missed once their lock is over. They must then come again by themselves.
  const patienceMs = Math.max(60_000, ...cases.map(({ case: one }) => missedWithinMs(one.kind)))
  const areBack = async () => [...(await survivals(database, cases)).values()].every((ms) => ms < Infinity)
  await until(areBack, { withinMs: patienceMs, everyMs: 500 }).catch(() => false)
  const quiet = await quiescence(database, patienceMs)
  problems.push(...(await differing()))
  if (quiet.left.length > 0)
    problems.push({ name: 'all', problem: `not quiet: ${quiet.left.map((left) => left.kind).join(', ')}` })
  await replayInnocent(database)
  const over = await untilOver(database)
  const unbalanced = await untilReconciled(database)
  if (unbalanced > 0) problems.push({ name: 'all', problem: `${unbalanced} days are not balanced` })
  if (over.left > 0) problems.push({ name: 'all', problem: `${over.left} things wait though their time is over` })
  return problems
}
