import { expect } from 'chai'
import type { ApiError } from '../../config/errors.ts'
import { sql } from '../../db/lib/connection.ts'
import type { Trx } from '../../db/lib/connection.ts'
import { readProperty } from '../../db/properties/index.ts'
import { readFacts } from '../../db/reservations/facts.ts'
import {
  acceptAmendment,
  assignBestFit,
  cancelReservations,
  checkIn,
  checkOut,
  confirmHeld,
  markNoShow,
  moveStay,
  previewTransitions,
  promiseUnit,
  proposeAmendment,
  readAmendment,
  reinstate,
  revertCheckIn,
  revertCheckOut,
} from '../../db/reservations/index.ts'
import { planReinstate } from '../../db/reservations/rules/plans-back.ts'
import { planCheckOut, planNoShow } from '../../db/reservations/rules/plans.ts'
import { presentDayOf, swapUnits } from '../../db/units/index.ts'
import { always } from '../../db/lib/conditions.ts'
import { randomOf } from '../chaos/random.ts'
import type { Random } from '../chaos/random.ts'
import { makeLateHouse } from '../night-audit/support.ts'
import type { House } from '../support/factories.ts'
import { useDatabase } from '../support/database.ts'
import { miscounted } from '../support/stay.ts'
import { attempt, changes, everyRule, outcomeOf, stock } from './random-states.ts'
import type { Outcome } from './random-states.ts'

const states = 1_000
const lanes = 2

type Shown = Awaited<ReturnType<typeof previewTransitions>>['commands'][number]

type Plan = Pick<Shown, 'to' | 'effects'> & { blockers: Pick<Shown['blockers'][number], 'code' | 'rule'>[] }
type Tried = { plan: Plan; run: () => Promise<unknown> }

/** A command as it is previewed or, where chance says more of it, as the plan that it acts on has it with those words. */
const tried = async (trx: Trx, stay: Outcome, shown: Shown, waives: boolean, random: Random): Promise<Tried | null> => {
  const { id, bookingId, propertyId } = stay
  const override = waives ? everyRule : null
  const reason = 'a test'
  const withTerms = async () => {
    const property = await readProperty(trx, propertyId)
    const [facts] = property ? await readFacts(trx, property, [id]) : []
    if (!property || !facts) throw new Error('no such stay')
    return { facts, property, businessDate: presentDayOf(property) }
  }
  const as = (plan: Pick<Plan, 'blockers'> & { effects: Omit<Shown['effects'], 'currency'> }): Plan => ({
    ...shown,
    blockers: plan.blockers,
    effects: { ...shown.effects, ...plan.effects },
  })
  const isPlain = random.chance(0.5)
  switch (shown.command) {
    case 'cancel': {
      const desk = { override }
      const asked = { reservationIds: [id], reason: 'guest_request' as const, acceptedFee: shown.effects.fee, desk }
      return { plan: shown, run: () => cancelReservations(trx, bookingId, asked) }
    }
    case 'check_in':
      return { plan: shown, run: () => checkIn(trx, id, { override }) }
    case 'check_out': {
      if (isPlain)
        return {
          plan: { ...shown, effects: { ...shown.effects, refund: 0 } },
          run: () => checkOut(trx, id, { override }),
        }
      const terms = {
        early: random.chance(0.7),
        chargeTonight: random.chance(0.3),
        refund: random.pick(['automatic', 'later'] as const),
      }
      return { plan: as(planCheckOut(await withTerms(), terms)), run: () => checkOut(trx, id, { ...terms, override }) }
    }
    case 'no_show': {
      if (isPlain) return { plan: shown, run: () => markNoShow(trx, id, { override }) }
      const fee = random.between(0, shown.effects.fee)
      return { plan: as(planNoShow(await withTerms(), fee)), run: () => markNoShow(trx, id, { fee, override }) }
    }
    case 'revert_check_in':
      return { plan: shown, run: () => revertCheckIn(trx, id, { reason }) }
    case 'revert_check_out':
      return { plan: shown, run: () => revertCheckOut(trx, id, { reason }) }
    case 'reinstate': {
      if (isPlain) return { plan: shown, run: () => reinstate(trx, id, { reason, override }) }
      const { blockers, effects } = planReinstate(await withTerms(), { fee: 'keep' })
      const own = shown.blockers.filter(({ code }) => ownCodes.has(code))
      return {
        plan: as({ blockers: [...blockers, ...own], effects }),
        run: () => reinstate(trx, id, { reason, fee: 'keep', override }),
      }
    }
    case 'confirm':
      return { plan: shown, run: () => confirmHeld(trx, bookingId, { reservationIds: [id], override }) }
    default:
      return null
  }
}

const codes = (fields: readonly string[]) => [...new Set(fields)].sort()
/** Told by their own codes in place of a list of blockers. */
const ownCodes = new Set(['sold_out', 'unit_conflict'])

const judge = (
  what: string,
  command: string,
  shown: Plan,
  waives: boolean,
  before: Outcome,
  after: Outcome,
  error: ApiError | null,
) => {
  const standing = shown.blockers.filter(({ rule }) => !waives || rule === null)
  const own = standing.filter(({ code }) => ownCodes.has(code))
  const listed = standing.filter(({ code }) => !ownCodes.has(code))
  if (listed.length > 0) {
    expect(error?.code, what).to.equal('transition_blocked')
    expect(codes((error?.errors ?? []).map(({ field }) => field.replace('blockers.', ''))), what).to.deep.equal(
      codes(listed.map(({ code }) => code)),
    )
    return
  }
  if (own.length > 0) {
    expect(
      own.map(({ code }) => code),
      what,
    ).to.include(error?.code)
    return
  }
  expect(error, `${what} ${error?.code} ${JSON.stringify(error?.errors)}`).to.equal(null)
  const { effects } = shown
  const became = (from: string[], to: string[]) =>
    Object.entries(after.nights)
      .flatMap(([date, status]) => (from.includes(before.nights[date] ?? '') && to.includes(status) ? [date] : []))
      .sort()
  expect(after.status, what).to.equal(shown.to)
  expect(became(['open'], ['released']), `${what} released`).to.deep.equal(effects.nightsReleased)
  expect(became(['released'], ['open', 'waived']), `${what} taken`).to.deep.equal(effects.nightsTaken)
  expect(after.balance, `${what} balance`).to.equal(effects.balanceDue)
  if (command === 'cancel' || command === 'check_out')
    expect(after.refunds - before.refunds, `${what} refund`).to.equal(effects.refund)
  if (command === 'cancel' || command === 'no_show') expect(after.fee ?? 0, `${what} fee`).to.equal(effects.fee)
}

/** Refusals of a change that it meets by itself, whatever stands in a preview. */
const refusals = new Set([
  'unit_conflict',
  'unit_occupied',
  'unit_type_mismatch',
  'sold_out',
  'validation_failed',
  'date_out_of_range',
  'unit_not_assigned',
  'invalid_transition',
])

/** Changes of a live stay by chance: other dates, which may split it over units, another party, another price. */
const changeOf = (house: House, random: Random) =>
  random.pick([
    () => ({ departure: house.day(random.between(-1, 5)), allowMove: random.chance(0.5) }),
    () => ({ arrival: house.day(random.between(-2, 2)), departure: house.day(random.between(1, 4)) }),
    () => ({ adults: random.between(1, 4) }),
    () => ({ ratePlanId: house.saverPlanId }),
    () => ({ manualNights: [{ date: house.day(random.between(-1, 2)), amount: random.between(1, 30_000) }] }),
  ])()

/** A proposal says the outcome of its acceptance, and all that the acceptance needs. Answers how it ended. */
const amendByChance = async (trx: Trx, house: House, stay: Outcome, waives: boolean, random: Random, what: string) => {
  let id = ''
  const change = changeOf(house, random)
  const unpriced = await attempt(trx, async () => void (id = await proposeAmendment(trx, stay.id, change)))
  if (unpriced) return `propose ${unpriced.code}`
  const proposal = await readAmendment(trx, stay.id, id)
  const said = `${what} ${JSON.stringify([change, proposal])}`
  expect(await outcomeOf(trx, stay.id), `${said} a proposal changes nothing`).to.deep.equal(stay)
  let after = stay
  const error = await attempt(
    trx,
    async () => {
      await acceptAmendment(trx, stay.id, id, waives ? everyRule : null)
      await sql(trx, `set constraints all immediate`)
      after = await outcomeOf(trx, stay.id)
    },
    true,
  )
  if (proposal.unit === 'conflict') expect(error, said).not.to.equal(null)
  else if (waives || proposal.feasible) {
    expect(error, `${said} ${error?.code} ${JSON.stringify(error?.errors)}`).to.equal(null)
    expect([after.status, after.total], said).to.deep.equal([stay.status, proposal.totalAfter])
    const left = proposal.nights.filter((night) => night.after !== null).map((night) => night.date)
    expect(
      Object.keys(after.nights)
        .filter((date) => after.nights[date] !== 'released')
        .sort(),
      said,
    ).to.deep.equal(left)
  } else {
    const byRule: Record<string, string> = { availability: 'sold_out', restriction: 'restriction_violated' }
    expect(
      proposal.needsOverride.map((rule) => byRule[rule] ?? 'transition_blocked'),
      said,
    ).to.include(error?.code)
  }
  return error?.code ?? 'done'
}

/** Gives the stay other units by chance. No price and no other status follows from it, and best fit is the unit that a check-in was shown to take. */
const placeByChance = async (
  trx: Trx,
  house: House,
  ids: readonly string[],
  stay: Outcome,
  shown: readonly Shown[],
  random: Random,
  what: string,
) => {
  const unitId = random.pick(house.unitIds)
  const [from, to] = [house.day(random.between(-1, 1)), house.day(random.between(1, 3))]
  const arrival = shown.find(({ command }) => command === 'check_in')
  const acts: Record<string, () => Promise<unknown>> = {
    move: () =>
      moveStay(trx, stay.id, {
        unitId,
        reason: 'noise',
        override: { rules: ['unit_condition'], reason: 'by chance' },
        ...(random.chance(0.3) ? { from } : {}),
      }),
    assign: () => assignBestFit(trx, stay.id, { lock: random.chance(0.5) }),
    part: () => promiseUnit(trx, stay.id, unitId, { from, to, lock: random.chance(0.5) }),
    swap: () => swapUnits(trx, [stay.id, random.pick(ids.filter((one) => one !== stay.id))], undefined, always),
  }
  const name = random.pick(arrival ? ['assign', 'part', 'swap'] : ['move', 'move', 'swap'])
  let after = stay
  let next: Shown | undefined
  const error = await attempt(
    trx,
    async () => {
      await acts[name]?.()
      await sql(trx, `set constraints all immediate`)
      after = await outcomeOf(trx, stay.id)
      if (name === 'assign')
        next = (await previewTransitions(trx, stay.id, () => true)).commands.find(
          ({ command }) => command === 'check_in',
        )
    },
    true,
  )
  const said = `${what} ${name} ${error?.code} ${JSON.stringify(error?.errors)}`
  if (error) expect(refusals, said).to.include(error.code)
  else expect([after.status, after.total, after.nights], said).to.deep.equal([stay.status, stay.total, stay.nights])
  if (next) expect(next.effects.unitId, said).to.equal(arrival?.effects.unitId)
  return `${name} ${error ? 'refused' : 'done'}`
}

describe('The preview of transitions', () => {
  useDatabase()

  it(`names all blockers at once and equals the outcome, in ${states} states that chance has made`, async function () {
    this.timeout(600_000)
    const met: Record<string, number> = {}
    const play = async (lane: number) => {
      const house = await makeLateHouse(1, { units: 9, settings: { frontDesk: { noShowFrom: '00:00' } } })
      const ids = await stock(house)
      const random = randomOf(7, `lane ${lane}`)
      for (let step = 0; step < states / lanes; step += 1) {
        const id = random.pick(ids)
        const waives = random.chance(0.5)
        await house
          .inHouse(async (trx) => {
            const made: number[] = []
            for (let count = random.between(0, 4); count > 0; count -= 1) {
              const all = changes(house, ids, trx, id, random)
              const index = random.between(0, all.length - 1)
              made.push(index)
              await all[index]?.()
            }
            const { commands } = await previewTransitions(trx, id, () => true)
            const before = await outcomeOf(trx, id)
            const what = `lane ${lane}, state ${step} of ${id} (changes ${made.join()}), waived ${waives}:`
            const count = (outcome: string) => (met[outcome] = (met[outcome] ?? 0) + 1)
            const shown = random.pick(commands)
            const asked = await tried(trx, before, shown, waives, random)
            if (asked === null) {
              const isPlaced = before.status !== 'held' && random.chance(0.4)
              count(
                isPlaced
                  ? await placeByChance(trx, house, ids, before, commands, random, what)
                  : `amend ${await amendByChance(trx, house, before, waives, random, what)}`,
              )
            } else {
              let after = before
              const error = await attempt(
                trx,
                async () => {
                  await asked.run()
                  await sql(trx, `set constraints all immediate`)
                  after = await outcomeOf(trx, id)
                },
                true,
              )
              count(`${shown.command} ${error?.code ?? 'done'}`)
              judge(`${what} ${JSON.stringify(shown)}`, shown.command, asked.plan, waives, before, after, error)
            }
            throw new Undo()
          })
          .catch((error: unknown) => {
            if (!(error instanceof Undo)) throw error
          })
      }
      expect(await miscounted(house)).to.deep.equal([])
    }
    await Promise.all(Array.from({ length: lanes }, (_, lane) => play(lane)))
    for (const name of ['cancel', 'check_in', 'check_out', 'no_show', 'reinstate', 'revert_check_in', 'confirm'])
      expect(met, JSON.stringify(met)).to.include.keys(`${name} done`, `${name} transition_blocked`)
    expect(met, JSON.stringify(met)).to.include.keys(
      'revert_check_out done',
      'revert_check_out unit_conflict',
      'amend done',
      'amend transition_blocked',
      'move done',
      'assign done',
      'part done',
      'swap done',
    )
  })
})

class Undo extends Error {}
