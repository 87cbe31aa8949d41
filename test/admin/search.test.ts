import { expect } from 'chai'
import { contrasts } from './contrast.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { listActs, listJobs, subjectsOf } from '../../db/jobs/index.ts'
import { schedules } from '../../jobs/all.ts'
import { useWorld } from '../support/world.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makeHold } from '../support/stay.ts'
import { makeBooking, makeTill, pay, paymentOf, work } from '../payment/support.ts'
import { putJobs } from './support.ts'

describe('finding a job by what a hotel says', () => {
  const world = useWorld()
  let house: House
  let bookingId: string
  before(async () => {
    house = await makeHouse()
    await makeHouse()
    bookingId = await makeHold(house, { email: 'ana@example.com' })
  })

  const facts = async () => {
    const [row] = await house.inHouse((trx) =>
      sql<{ number: string; reservationId: string }>(
        trx,
        `select b.number, r.id as reservation_id from booking b join reservation r on r.booking_id = b.id where b.id = ?`,
        [bookingId],
      ),
    )
    if (!row) throw new Error('the booking is there')
    return row
  }
  const found = (filter: Parameters<typeof listJobs>[1] extends infer F ? Partial<F> : never) =>
    inPlatform((trx) => listJobs(trx, { page: 1, limit: 50, ...filter }))

  it('leads from the number of a booking, in any case, to its jobs, of this tenant alone', async () => {
    const { number, reservationId } = await facts()
    for (const said of [number, number.toLowerCase()]) {
      const ids = await inPlatform((trx) => subjectsOf(trx, said))
      expect(ids).to.include.members([bookingId, reservationId])
      const { rows } = await found({ subjectIds: ids })
      expect(rows.map(({ kind }) => kind)).to.include('inventory.expire-hold')
      expect(new Set(rows.map(({ tenantId }) => tenantId))).to.deep.equal(new Set([house.tenantId]))
    }
    expect(await inPlatform((trx) => subjectsOf(trx, 'ZZZZZZZZ'))).to.deep.equal([])
  })

  it('leads from the e-mail of a guest to the bookings, whatever the tenant', async () => {
    const [row] = await house.inHouse((trx) =>
      sql<{ has: boolean }>(trx, `select email_index is not null as has from booking where id = ?`, [bookingId]),
    )
    expect(row?.has).to.equal(true)
    const ids = await inPlatform((trx) => subjectsOf(trx, ' ANA@example.com '.trim()))
    expect(ids).to.include(bookingId)
    expect(await inPlatform((trx) => subjectsOf(trx, 'nobody@example.com'))).to.deep.equal([])
  })

  it('takes short ids, beginnings of kinds and parts of errors, and leaves the clock out', async () => {
    const [id = ''] = await putJobs(world, 2, {
      queue: 'payments',
      kind: 'payments.read',
      code: 'ECONNREFUSED',
      message: 'Connect refused by 10.0.0.1',
    })
    const short = id.slice(0, 8)
    const one = await found({
      idFrom: `${short}-0000-0000-0000-000000000000`,
      idTo: `${short}-ffff-ffff-ffff-ffffffffffff`,
    })
    expect(one.rows.map((job) => job.id)).to.deep.equal([id])
    expect((await found({ kindPrefix: 'payments.' })).rows).to.have.length(2)
    expect((await found({ kindPrefix: 'payment_' })).rows, 'no pattern').to.have.length(0)
    for (const errorText of ['econnrefused', 'refused BY']) expect((await found({ errorText })).rows).to.have.length(2)
    const [tick] = schedules
    await putJobs(world, 1, { queue: 'maintenance', kind: tick?.job.name ?? '', status: 'pending' })
    const without = schedules.map(({ job }) => job.name)
    const kinds = async (filter: object) => (await found(filter)).rows.map(({ kind }) => kind)
    expect(await kinds({})).to.include(tick?.job.name)
    expect(await kinds({ without })).not.to.include(tick?.job.name)
  })

  it('leads from a payment, by its id or the reference of the gateway, to its jobs', async () => {
    const till = await makeTill()
    const { id } = await pay(till, await makeBooking(till))
    await work()
    const { externalId } = await paymentOf(till, id)
    const ids = await inPlatform((trx) => subjectsOf(trx, externalId ?? ''))
    expect(ids).to.deep.equal([id])
    expect((await found({ subjectIds: ids })).rows.map(({ kind }) => kind)).to.include('payments.submit')
  })

  it('tells what operators did, with who and why', async () => {
    await world.database.admin.raw(
      `insert into audit_entry (chain, actor_type, actor_id, action, subject_type, subject_id, reason, request_id)
       values ('platform', 'superuser', null, 'queue.pause', 'Queue', 'payments', 'the provider asks', 'r')`,
    )
    const [act] = await inPlatform((trx) => listActs(trx, { page: 1, limit: 10 }))
    expect(act).to.include({ action: 'queue.pause', subjectId: 'payments', reason: 'the provider asks' })
  })

  it('is read easily: every text of the pages has a contrast of 4.5 at least, in light and dark', () => {
    for (const { pair, ratio } of contrasts()) expect(ratio, pair).to.be.at.least(4.5)
  })
})
