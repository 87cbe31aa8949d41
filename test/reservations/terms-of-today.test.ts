import { expect } from 'chai'
import { sql } from '../../db/lib/connection.ts'
import { openDesk } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { makeConnection, receive, revisionOf } from '../channels/support.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { useWorld } from '../support/world.ts'

type Told = { field: string; message: string }[]

describe('The terms of today for a stay', () => {
  const world = useWorld()
  let house: House
  let owner: Desk
  beforeEach(async () => {
    house = await makeHouse({ units: 3, deposit: null })
    owner = await openDesk(world, house, 'owner')
  })

  const post = (path: string, body: object = {}) => owner.send('POST', path, body)
  const book = async (): Promise<string> => {
    const days = { arrival: house.day(20), departure: house.day(22) }
    const { unitTypeId, ratePlanId, propertyId } = house
    const room = { unitTypeId, ratePlanId, ...days, adults: 1, childrenAges: [] }
    const { status, body } = await post('bookings', {
      propertyId,
      source: 'phone',
      booker: { firstName: 'Bia' },
      rooms: [room],
    })
    expect(status, JSON.stringify(body)).to.equal(201)
    return body.reservations[0].id as string
  }
  const read = async (id: string) => (await owner.get(`reservations/${id}`)).body
  const termsOf = async (id: string) => (await read(id)).policies.cancellation.versionId as string
  const change = (id: string, policy: 'keep' | 'new') =>
    post(`reservations/${id}/amendments`, { changes: { adults: 2 }, policy })
  /** The policies of the flexible plan become others. */
  const newTerms = async (): Promise<string> => {
    const { body } = await owner.get(`rate-plans/${house.ratePlanId}`)
    const rules = {
      tiers: [],
      after: { type: 'percent', value: 1000, of: 'total' },
      graceHoursAfterBooking: 0,
      earlyDeparture: { type: 'none', value: 0, of: 'room' },
    }
    const changed = await owner.send('PATCH', `policies/${body.cancellationPolicyId}`, { rules })
    expect(changed.status, JSON.stringify(changed.body)).to.equal(200)
    return (await termsOf(await book())) ?? ''
  }
  const archive = async () => {
    await house.inHouse((trx) => sql(trx, `update rate_plan set status = 'archived' where id = ?`, [house.ratePlanId]))
    await house.inHouse((trx) =>
      sql(trx, `update property set public_version = public_version + 1 where id = ?`, [house.propertyId]),
    )
  }
  const refused = ({ status, body }: { status: number; body: { code?: string; errors?: Told } }) => [
    status,
    body.code,
    body.errors?.map(({ field }) => field),
  ]

  it('are refused by name where its plan is archived, and those that it has are kept', async () => {
    const [stay, gone] = [await book(), await book()]
    const before = await termsOf(stay)
    expect((await post(`reservations/${gone}/cancel`, { reason: 'changed_plans' })).status).to.equal(200)
    await newTerms()
    await archive()
    const unknown = [422, 'reference_not_found', ['policy']]
    const only = await post(`reservations/${stay}/amendments`, { changes: {}, policy: 'new' })
    expect(refused(only)).to.deep.equal(unknown)
    const back = { reason: 'comes after all', policy: 'new' }
    expect(refused(await post(`reservations/${gone}/reinstate`, back))).to.deep.equal(unknown)
    expect((await read(gone)).status).to.equal('cancelled')
    expect((await post(`reservations/${gone}/reinstate`, { ...back, policy: 'keep' })).status).to.equal(200)
    expect(await termsOf(gone)).to.equal(before)
  })

  it('are given by the desk to a stay of a channel too, whose own changes keep what it has', async () => {
    const connectionId = await makeConnection(house, { name: 'terms', secret: 'x'.repeat(20) })
    await house.inHouse((trx) =>
      sql(trx, `update channel_connection set status = 'paused' where id = ?`, [connectionId]),
    )
    const [row] = await receive(house, connectionId, revisionOf(house, { externalId: 'TERMS', from: 20 }))
    const { body: booking } = await owner.get(`bookings/${row?.bookingId}`)
    const id = booking.reservations[0].id as string
    const before = await termsOf(id)
    const today = await newTerms()
    await receive(
      house,
      connectionId,
      revisionOf(house, { externalId: 'TERMS', from: 20, nights: 3, revision: 2, kind: 'modified' }),
    )
    expect(await termsOf(id)).to.equal(before)
    const { status, body: proposal } = await change(id, 'new')
    expect([status, proposal.policyChanged, proposal.needsOverride]).to.deep.equal([201, true, ['channel']])
    const override = { rules: ['channel'], reason: 'agreed with the channel' }
    const accepted = await post(`reservations/${id}/amendments/${proposal.amendmentId}/accept`, { override })
    expect(accepted.status, JSON.stringify(accepted.body)).to.equal(200)
    expect(await termsOf(id))
      .to.equal(today)
      .and.not.to.equal(before)
    expect((await read(id)).deposits, 'a channel pays').to.deep.equal([])
  })
})
