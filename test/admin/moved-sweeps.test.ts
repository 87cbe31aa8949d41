import { expect } from 'chai'
import { randomUUID } from 'node:crypto'
import { warnOfKeys, writeLastSeen } from '../../db/auth/index.ts'
import { inPlatform, inTenant, sql } from '../../db/lib/connection.ts'
import { enqueue } from '../../db/lib/enqueue.ts'
import { ledgerEnsureYears, ledgerSweepIntegrity, ledgerSweepPostings, ledgerTickBooks } from '../../jobs/financial.ts'
import { makeKey, makeUser } from '../auth/support.ts'
import { raiseMany } from '../financial/support.ts'
import { useDatabase } from '../support/database.ts'
import { drain } from '../support/drain.ts'
import { makeHouse } from '../support/factories.ts'

describe('the work of the clock beside a tenant that has moved to another installation', () => {
  const held = useDatabase()
  const houses: { tenantId: string }[] = []
  before(async () => {
    for (const _ of [1, 2]) {
      const house = await makeHouse()
      await makeUser({ [house.tenantId]: 'owner' })
      await raiseMany(house, 1)
      await inTenant(house.tenantId, (trx) =>
        sql(trx, `update posting_event set next_at = now() - interval '1 second'`),
      )
      houses.push(house)
    }
    await sql(held.database.admin, `delete from jobs`)
    await sql(held.database.admin, `delete from book_tick`)
    await sql(
      held.database.admin,
      `insert into tenant_move (tenant_id, direction, ticket_id, receipt_hash) values (?, 'out', ?, '\\x00'::bytea)`,
      [houses[0]?.tenantId, randomUUID()],
    )
  })

  const [gone, here] = [() => houses[0]?.tenantId ?? '', () => houses[1]?.tenantId ?? '']

  it('asks for the jobs of all other books', async () => {
    for (const job of [ledgerTickBooks, ledgerSweepPostings, ledgerSweepIntegrity, ledgerEnsureYears]) {
      await inPlatform((trx) => enqueue(trx, job, {}))
      const ended = await drain({ kinds: [job.name] })
      expect(
        ended.map(({ outcome }) => outcome),
        job.name,
      ).to.deep.equal(['done'])
    }
    const asked = await sql<{ tenantId: string; kind: string }>(
      held.database.admin,
      `select distinct tenant_id, kind from jobs where kind in ('ledger.run-due', 'ledger.post', 'ledger.check-integrity') order by kind`,
    )
    expect(asked).to.deep.equal(
      ['ledger.check-integrity', 'ledger.post', 'ledger.run-due'].map((kind) => ({ tenantId: here(), kind })),
    )
  })

  it('writes down when all other keys were used, and warns before they end', async () => {
    const expiresAt = new Date(Date.now() + 86_400_000)
    const own = await makeKey(here(), ['read'], { expiresAt })
    await sql(held.database.admin, `delete from tenant_move`)
    const away = await makeKey(gone(), ['read'], { expiresAt: new Date(expiresAt.getTime() - 3_600_000) })
    await sql(
      held.database.admin,
      `insert into tenant_move (tenant_id, direction, ticket_id, receipt_hash) values (?, 'out', ?, '\\x00'::bytea)`,
      [gone(), randomUUID()],
    )
    const seen = (tenantId: string, id: string) => ({
      seen: { kind: 'api_key' as const, tenantId, id },
      at: new Date(),
      address: '192.0.2.1',
    })
    await inPlatform((trx) => writeLastSeen(trx, [seen(gone(), away.apiKeyId), seen(here(), own.apiKeyId)]))
    await inPlatform((trx) => warnOfKeys(trx))
    const used = await sql(
      held.database.admin,
      `select k.tenant_id, exists (select from api_key_warning w where w.api_key_id = k.id) as warned from api_key k where k.last_used_at is not null`,
    )
    expect(used).to.deep.equal([{ tenantId: here(), warned: true }])
  })
})
