import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { forgetLimits } from '../auth/support.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeLateHouse, makeStays, payAll, setDay } from '../night-audit/support.ts'
import type { House } from '../support/factories.ts'
import { miscounted } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'

type Shown = {
  command: string
  blockers: { code: string; rule: string | null; permitted: boolean }[]
  effects: { fee: number; balanceDue: number }
}

/** Numbers that look random and are the same each time. */
const dice = (seed: number) => {
  let state = seed
  return (faces: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return Math.floor((state / 2_147_483_648) * faces)
  }
}

describe('The preview of a stay', () => {
  const world = useWorld()
  let house: House
  let manager: Desk

  before(async () => {
    house = await makeLateHouse(1, { units: 8, settings: { frontDesk: { noShowFrom: '00:00' } } })
    manager = await openDesk(world, house, 'manager')
  })

  const paths: Record<string, [path: string, body: object]> = {
    cancel: ['cancel', { reason: 'guest_request' }],
    check_in: ['check-in', {}],
    check_out: ['check-out', {}],
    no_show: ['no-show', {}],
    revert_check_in: ['revert-check-in', { reason: 'a test' }],
    revert_check_out: ['revert-check-out', { reason: 'a test' }],
    reinstate: ['reinstate', { reason: 'a test' }],
  }
  const preview = async (id: string): Promise<Shown[]> =>
    (await manager.get(`reservations/${id}/transitions`)).body.commands

  it('names what each command will meet, and what it comes to, in states that chance has made', async function () {
    this.timeout(120_000)
    const roll = dice(7)
    const ids = await makeStays(house, 6, { from: -1, nights: 2 })
    const met: Record<string, number> = {}
    for (let step = 0; step < 60; step += 1) {
      if (step % 20 === 0) await forgetLimits(world)
      const id = ids[roll(ids.length)] ?? ''
      if (step % 40 === 39) await setDay(house, roll(3) - 1)
      if (roll(6) === 0)
        await house.inHouse((trx) =>
          sql(trx, `update unit set condition = ? where property_id = ?`, [
            ['dirty', 'inspected'][roll(2)],
            house.propertyId,
          ]),
        )
      if (roll(8) === 0) await payAll(house, id).catch(() => {})
      const offered = (await preview(id)).filter(({ command }) => command in paths)
      const chosen = offered[roll(offered.length)]
      if (!chosen) continue
      const [path = '', body = {}] = paths[chosen.command] ?? []
      const waived = chosen.blockers.flatMap(({ rule, permitted }) => (rule !== null && permitted ? [rule] : []))
      const takesOverride = !chosen.command.startsWith('revert')
      const waives = takesOverride && waived.length > 0 && roll(2) === 0
      const standing = chosen.blockers.filter(({ rule }) => !waives || rule === null || !waived.includes(rule))
      const accepted = chosen.command === 'cancel' ? { acceptedFee: chosen.effects.fee } : {}
      const { status, body: reply } = await manager.send('POST', `reservations/${id}/${path}`, {
        ...body,
        ...accepted,
        ...(waives ? { override: { rules: [...new Set(waived)], reason: 'a test' } } : {}),
      })
      const what = `${step} ${chosen.command} ${JSON.stringify(chosen)} ${JSON.stringify(reply).slice(0, 600)}`
      met[`${chosen.command} ${status}`] = (met[`${chosen.command} ${status}`] ?? 0) + 1
      const own = standing.filter(({ code }) => code === 'sold_out' || code === 'unit_conflict')
      if (standing.length === 0) {
        expect(status, what).to.equal(200)
        if (chosen.command !== 'reinstate') expect(reply.folioSummary.balance, what).to.equal(chosen.effects.balanceDue)
        if (chosen.command === 'cancel' || chosen.command === 'no_show')
          expect(reply.feeAmount, what).to.equal(chosen.effects.fee)
      } else if (own.length === standing.length)
        expect(
          own.map(({ code }) => code),
          what,
        ).to.include(reply.code)
      else {
        expect([status, reply.code], what).to.deep.equal([422, 'transition_blocked'])
        const told = new Set((reply.errors as { field: string }[]).map(({ field }) => field.replace('blockers.', '')))
        expect([...told].sort(), what).to.deep.equal(
          [...new Set(standing.filter((one) => !own.includes(one)).map(({ code }) => code))].sort(),
        )
      }
    }
    expect(Object.keys(met).filter((key) => key.endsWith('200')).length, JSON.stringify(met)).to.be.greaterThan(3)
    expect(await miscounted(house)).to.deep.equal([])
  })
})
