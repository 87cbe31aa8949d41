import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { closeDatabase, makeKnex, openDatabase, sql } from '../../db/lib/connection.ts'
import type { ReceivedMail } from '../../scripts/services/mailbox.ts'
import { withClient } from '../../scripts/services/provision.ts'
import type { House } from '../support/factories.ts'
import { insistentClient } from './client.ts'
import { check } from './checker.ts'
import type { Violation } from './checker.ts'
import type { Evidence } from './evidence.ts'
import { inject } from './faults.ts'
import type { Left } from './faults.ts'
import { mend, quiescence, replayInnocent, untilOver, untilReconciled } from './heal.ts'
import { openHooks } from './hooks.ts'
import { openLedger } from './ledger.ts'
import type { Command } from './ledger.ts'
import { startLoad } from './load.ts'
import { openDoors, startDesks } from './desk.ts'
import { openInboxes } from './no-sayers.ts'
import { openOffers } from './offers.ts'
import { hireStaff, startStaff } from './staff.ts'
import { openCampaigns } from './letters.ts'
import { planOf, shown } from './plan.ts'
import type { FaultName } from './plan.ts'
import { deathsOf, evidenceOf, furnish, linesOf } from './setting.ts'
import { buildTown } from './town.ts'
import type { Town } from './town.ts'

export type Options = { seed: number; minutes: number; guests: number; only: readonly FaultName[] }

/** The folders of the compiled service, the logs, and the files of PostgreSQL and Redis. */
export type Places = { built: string; folder: string; services: string }

export type Outcome = {
  violations: Violation[]
  faults: Map<FaultName, number>
  commands: readonly Command[]
}

const quietWithinMs = 60_000

/** The end of a hold, brought forward; PostgreSQL may be away. */
const outlive = (town: Town) => async (house: House, bookingId: string) => {
  for (let tries = 0; tries < 20; tries += 1)
    try {
      await withClient(town.adminUrl(), (client) =>
        client.query(
          `update booking set hold_expires_at = now() - interval '1 second' where tenant_id = $1 and id = $2 and hold_expires_at is not null`,
          [house.tenantId, bookingId],
        ),
      )
      return
    } catch {
      await wait(500)
    }
}

const runFaults = async (town: Town, options: Options, left: Left, say: (line: string) => void) => {
  const lengthMs = options.minutes * 60_000
  const plan = planOf(options.seed, lengthMs, options.only)
  const counts = new Map<FaultName, number>()
  const begun = Date.now()
  const under: Promise<void>[] = []
  for (const planned of plan) {
    await wait(Math.max(0, begun + planned.atMs - Date.now()))
    say(shown(planned))
    counts.set(planned.name, (counts.get(planned.name) ?? 0) + 1)
    under.push(
      inject[planned.name](town, planned, left).catch((error: unknown) => say(`  ${planned.name}: ${String(error)}`)),
    )
  }
  await wait(Math.max(0, begun + lengthMs - Date.now()))
  await Promise.all(under)
  return counts
}

/** One campaign: load and faults, then everything whole again, then rest, then the checker. */
export const campaign = async (options: Options, { built, folder, services }: Places): Promise<Outcome> => {
  mkdirSync(folder, { recursive: true })
  const lines: string[] = []
  const started = Date.now()
  const say = (line: string) => {
    const stamped = `${((Date.now() - started) / 1_000).toFixed(1).padStart(7)}  ${line}`
    lines.push(stamped)
    process.stdout.write(`${stamped}\n`)
  }
  const town = await buildTown(built, folder, services, { api: 2, relay: 2, scheduler: 2, worker: 3 })
  try {
    const houses = await furnish(town)
    const hired = await hireStaff(houses)
    const plans = await openDoors(houses)
    const hooks = await openHooks(houses, town.hookPort)
    const inboxes = await openInboxes(houses, hired)
    await openOffers(houses)
    await town.fleet.ready()
    const apis = town.fleet.of('api').map((each) => each.baseUrl)
    const letters = await openCampaigns(houses, { apis, inboxes, afterMs: (options.minutes * 60_000) / 3 })
    say('ready')
    const left: Left = { effects: [], poisoned: [], missed: [] }
    const ledger = openLedger(join(folder, 'commands.jsonl'))
    const load = startLoad({
      apis,
      houses,
      ledger,
      seed: options.seed,
      guests: options.guests,
      outlive: outlive(town),
      inboxes,
      mails: () => linesOf<ReceivedMail>(town.files.mail),
    })
    const staff = startStaff(insistentClient(apis, ledger), apis, hired, options.seed)
    const desks = startDesks(insistentClient(apis, ledger), {
      apis,
      houses,
      keys: hired.keys,
      plans,
      seed: options.seed,
    })
    const removing = wait(options.minutes * 30_000).then(hooks.remove)
    const faults = await runFaults(town, options, left, say)
    const removed = await removing
    say('the faults are over')
    await Promise.all([load.stop(), staff.stop(), desks.stop(), mend(town)])
    say('whole again')
    await openDatabase(town.serviceUrl())
    const database = makeKnex(town.adminUrl(), 4)
    try {
      const quiet = await quiescence(database, quietWithinMs)
      say(`quiet after ${(quiet.tookMs / 1_000).toFixed(1)} s${quiet.left.length > 0 ? ': not' : ''}`)
      const replayed = await replayInnocent(database)
      if (replayed.length > 0) say(`given up after three deaths of others, and replayed: ${replayed.join(', ')}`)
      const over = await untilOver(database)
      say(`over after ${over.rounds} rounds, ${over.left} left`)
      say(`reconciled: ${await untilReconciled(database)} days are not balanced`)
      const evidence = evidenceOf(town, ledger, left, { removed, refusals: [...letters, ...load.refusals] })
      const violations = await check(database, evidence)
      if (quiet.left.length > 0)
        violations.push({
          rule: 'quiet within 60 s of the last fault',
          count: quiet.left.length,
          examples: quiet.left.slice(0, 8),
        })
      violations.push(...deathsOf(town))
      writeFileSync(join(folder, 'violations.json'), JSON.stringify(violations, null, 2))
      const summary = await sum(database, evidence)
      for (const line of summary) say(line)
      say(`read beside: ${staff.reads()} lists and pages; ${desks.moves()} moves at desks`)
      return { violations, faults, commands: ledger.commands }
    } finally {
      await database.destroy()
    }
  } finally {
    await closeDatabase()
    await town.stop()
    writeFileSync(join(folder, 'campaign.log'), `${lines.join('\n')}\n`)
  }
}

/** Lines with counts of the work that was done, and of repetitions and copies that may occur. */
const sum = async (
  database: ReturnType<typeof makeKnex>,
  { commands, mails, texts, deeds, hooks, refusals }: Evidence,
): Promise<string[]> => {
  const [row] = await sql<Record<string, number>>(
    database,
    `select (select count(*) from booking) as bookings, (select count(*) from reservation where confirmed_at is not null) as confirmed,
       (select count(*) from payment where captured_amount > 0) as captured, (select count(*) from refund where succeeded_at is not null) as refunded,
       (select count(*) from job_archive) as jobs, (select count(*) from job_archive where starts > attempts + 1) as restarted,
       (select count(*) from external_call where tries > 1) as repeated_calls,
       (select count(*) from message where status = 'suppressed') as messages_withheld`,
  )
  const outcomes = (outcome: Command['outcome']) => commands.filter((command) => command.outcome === outcome).length
  const copies = mails.length - new Set(mails.map((mail) => mail.messageId)).size
  return [
    `commands: ${commands.length} (${outcomes('accepted')} accepted, ${outcomes('refused')} refused, ${outcomes('unknown')} unknown), ${commands.filter((one) => one.tries > 1).length} repeated`,
    `records: ${Object.entries(row ?? {})
      .map(([name, count]) => `${count} ${name}`)
      .join(', ')}`,
    `outside: ${deeds.filter((one) => one.deed === 'asked').length} calls, ${mails.length} mails, ${copies} of them second copies under one Message-ID, ${texts.length} texts, ${hooks.length} webhooks; ${refusals.length} guests said no`,
  ]
}
