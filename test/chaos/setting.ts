import { existsSync, readFileSync } from 'node:fs'
import { settings } from '../../config/env.ts'
import { openDatabase } from '../../db/lib/connection.ts'
import type { ReceivedMail } from '../../scripts/services/mailbox.ts'
import { withClient } from '../../scripts/services/provision.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeTenant } from '../support/tenants.ts'
import type { Violation } from './checker.ts'
import type { Text } from './carrier.ts'
import { openAllDay } from './desk.ts'
import type { Evidence } from './evidence.ts'
import type { Left } from './faults.ts'
import type { GatewayDeed } from './gateway.ts'
import type { Removed } from './hooks.ts'
import type { Refusal } from './no-sayers.ts'
import type { Ledger } from './ledger.ts'
import type { Hook } from './receiver.ts'
import { peerSecret } from './town.ts'
import type { Town } from './town.ts'

export const linesOf = <T>(file: string): T[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as T)
    : []

/** Three tenants, one of them with two houses; few rooms, so that guests are in each other's way. */
const makeHouses = async (town: Town): Promise<House[]> => {
  settings.databaseUrl = town.serviceUrl()
  settings.publicBaseUrl = town.publicBaseUrl
  settings.twilio.authToken = peerSecret
  // Without a mail server the channels of a new house would lead nowhere.
  settings.smtpUrl = 'smtp://127.0.0.1'
  await openDatabase()
  const tenantId = await makeTenant({ name: 'Group' })
  return [
    await makeHouse({ tenantId, units: 6, ...openAllDay }),
    await makeHouse({ tenantId, units: 3, ...openAllDay }),
    await makeHouse({ units: 5, ...openAllDay }),
    await makeHouse({ units: 2, ...openAllDay }),
  ]
}

/** Creates the table to which this campaign's own jobs write their effects. */
const makeEffects = (town: Town) =>
  withClient(town.adminUrl(), (client) =>
    client.query(`create table chaos_effect (key text not null, at timestamptz not null default now());
      grant select, insert on chaos_effect to pousada_service`),
  )

/** Opens the database past every proxy: the houses that guests book, and a table for the effects of the campaign's own jobs. */
export const furnish = async (town: Town): Promise<House[]> => {
  await makeEffects(town)
  return makeHouses(town)
}

/** Evidence from every witness outside the database. */
export const evidenceOf = (
  town: Town,
  { commands, wrong }: Ledger,
  left: Left,
  { removed = [], refusals }: { removed?: readonly Removed[]; refusals: readonly Refusal[] },
): Evidence => ({
  hooks: linesOf<Hook>(town.files.hooks),
  removed,
  refusals,
  deeds: linesOf<GatewayDeed>(town.files.gateway),
  mails: linesOf<ReceivedMail>(town.files.mail),
  texts: linesOf<Text>(town.files.texts),
  commands,
  wrong,
  left,
})

const killed = 137

/** Processes that came to an end by themselves. A poison job ends its process as a power cut would. */
export const deathsOf = (town: Town): Violation[] => {
  const deaths = town.fleet.members
    .flatMap((member) => member.deaths().map((death) => ({ process: member.name, ...death })))
    .filter(({ code }) => code !== killed)
  return deaths.length === 0
    ? []
    : [{ rule: 'no process ends by itself', count: deaths.length, examples: deaths.slice(0, 3) }]
}
