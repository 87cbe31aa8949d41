import { expect } from 'chai'
import { quietUntil } from '../../db/ocp/rules/quiet-hours.ts'
import { triggerEvents } from '../../db/ocp/index.ts'
import { dueAt } from '../../db/ocp/plan-stay.ts'
import { matches } from '../../db/ocp/rules/automation-conditions.ts'
import type { Stay } from '../../db/ocp/rules/automation-conditions.ts'

const stay: Stay = {
  id: 'r',
  bookingId: 'b',
  propertyId: 'p',
  status: 'confirmed',
  unitTypeId: 'u',
  ratePlanId: 'x',
  source: 'portal',
  arrival: '2026-03-29',
  departure: '2026-04-02',
  nights: 4,
  language: 'pt-BR',
  guestId: 'g',
  childrenAges: [],
  bookedAt: new Date('2026-01-10T23:30:00Z'),
  confirmedAt: new Date('2026-01-10T23:31:00Z'),
  checkedInAt: null,
  checkedOutAt: null,
  returning: false,
  balanceDue: true,
  timeZone: 'Europe/Lisbon',
  checkInFrom: '14:00',
  checkOutUntil: '11:00',
}
const at = (trigger: Parameters<typeof dueAt>[0], of: Partial<Stay> = {}) =>
  dueAt(trigger, { ...stay, ...of }, null)?.toISOString() ?? null

describe('automations', () => {
  it('may wait for these events', () => {
    const ofStay = 'held confirmed amended moved checked_in checked_out cancelled no_show_recorded expired reinstated'
    const others =
      'deposit.due_date_reached payment.captured payment.failed refund.succeeded unit.made_ready group.confirmed issue.opened issue.resolved'
    expect([...triggerEvents].sort()).to.deep.equal(
      [...ofStay.split(' ').map((move) => `reservation.${move}`), ...others.split(' ')].sort(),
    )
  })
})

describe('dated messages', () => {
  it('come at the local time of the house, across both clock changes', () => {
    expect(at({ anchor: 'arrival', days: -2, at: '10:00' })).to.equal('2026-03-27T10:00:00.000Z')
    expect(at({ anchor: 'arrival', days: 0, at: '09:00' }), 'summer time has begun in the night').to.equal(
      '2026-03-29T08:00:00.000Z',
    )
    expect(at({ anchor: 'arrival', days: 0, at: '01:30' }), 'a skipped time is the first instant after it').to.equal(
      '2026-03-29T01:00:00.000Z',
    )
    expect(
      at({ anchor: 'arrival', days: 0, at: '01:30' }, { arrival: '2026-10-25' }),
      'a doubled one its first',
    ).to.equal('2026-10-25T00:30:00.000Z')
    expect(at({ anchor: 'check_in', hours: -3 })).to.equal('2026-03-29T10:00:00.000Z')
    expect(at({ anchor: 'departure', days: -1, at: '18:00' })).to.equal('2026-04-01T17:00:00.000Z')
    expect(at({ anchor: 'booked', days: 1, at: '10:00' }), 'the day is the one of the house').to.equal(
      '2026-01-11T10:00:00.000Z',
    )
    expect(at({ anchor: 'checked_out', days: 1, at: '10:00' }), 'nobody has left yet').to.equal(null)
    expect(
      dueAt({ anchor: 'deposit_due', days: -3, at: '10:00' }, stay, new Date('2026-03-20T12:00:00Z'))?.toISOString(),
    ).to.equal('2026-03-17T10:00:00.000Z')
  })

  it('respect quiet hours over midnight and within a day', () => {
    const quiet = { quietFrom: '21:00', quietUntil: '08:00' }
    const end = (instant: string, hours = quiet) =>
      quietUntil(hours, 'America/Sao_Paulo', new Date(instant))?.toISOString() ?? null
    expect(end('2026-11-20T23:59:59Z')).to.equal(null)
    expect(end('2026-11-21T00:00:00Z')).to.equal('2026-11-21T11:00:00.000Z')
    expect(end('2026-11-21T10:59:00Z')).to.equal('2026-11-21T11:00:00.000Z')
    expect(end('2026-11-21T11:00:00Z')).to.equal(null)
    expect(end('2026-11-20T16:00:00Z', { quietFrom: '12:00', quietUntil: '14:00' })).to.equal(
      '2026-11-20T17:00:00.000Z',
    )
    expect(end('2026-11-20T16:00:00Z', { quietFrom: '12:00', quietUntil: '12:00' })).to.equal(null)
  })

  it('leave quiet hours once, where their end is skipped or comes twice', () => {
    const end = (instant: string) =>
      quietUntil({ quietFrom: '21:00', quietUntil: '01:30' }, 'Europe/Lisbon', new Date(instant))?.toISOString() ?? null
    expect(end('2026-03-29T00:30:00Z'), 'skipped').to.equal('2026-03-29T01:00:00.000Z')
    expect(end('2026-03-29T01:00:00Z')).to.equal(null)
    expect(end('2026-10-25T00:10:00Z'), 'the first').to.equal('2026-10-25T00:30:00.000Z')
    expect(end('2026-10-25T00:30:00Z')).to.equal(null)
    expect(end('2026-10-25T01:10:00Z'), 'the second, and never a time that is over').to.equal(
      '2026-10-25T01:30:00.000Z',
    )
  })

  it('are wanted where every condition holds', () => {
    expect(matches({}, stay)).to.equal(true)
    expect(
      matches(
        {
          minNights: 4,
          maxNights: 4,
          languages: ['pt'],
          sources: ['portal'],
          returning: false,
          balanceDue: true,
          minor: false,
        },
        stay,
      ),
    ).to.equal(true)
    for (const one of [
      { minNights: 5 },
      { maxNights: 3 },
      { languages: ['en'] },
      { sources: ['desk'] },
      { returning: true },
      { balanceDue: false },
      { minor: true },
      { unitTypeIds: ['v'] },
    ])
      expect(matches(one, stay), JSON.stringify(one)).to.equal(false)
  })
})
