import { expect } from 'chai'
import { routes } from '../../api/routes.ts'
import { addMembership } from '../../db/auth/members/create.ts'
import { inPlatform, sql } from '../../db/lib/connection.ts'
import { foldCounts, countedLists } from '../../db/lib/counts.ts'
import { forgetLimits, makeUser, signIn } from '../auth/support.ts'
import { deskOf } from '../properties/support.ts'
import type { Desk } from '../properties/support.ts'
import { done } from '../stories/inn.ts'
import { clientOf } from '../support/client.ts'
import { makeHouse } from '../support/factories.ts'
import type { House } from '../support/factories.ts'
import { makePayables } from '../support/payables.ts'
import { pay } from '../support/pay.ts'
import { makeReceivables } from '../support/receivables.ts'
import { makeHold } from '../support/stay.ts'
import { useWorld } from '../support/world.ts'
import { unmeasured } from './lists-unmeasured.ts'
import { idOf, makeRows, uncheck } from './made-rows.ts'
import { readsOf, rowsVisited } from './rows-visited.ts'

const bookingId = `('b0000000-0000-4000-8000-' || lpad(to_hex(n), 12, '0'))::uuid`

/** SQL that tells copies of a row apart, over the number `n` of the copy and the row `one`. */
const copies: Partial<Record<keyof typeof countedLists, Record<string, string>>> = {
  reservation: {
    booking_id: bookingId,
    arrival: 'one.arrival + n % 300',
    departure: 'one.departure + n % 300',
    created_at: 'one.created_at - make_interval(secs => n)',
  },
  booking: {
    id: bookingId,
    number: `translate(lpad(to_hex(n), 8, '0'), 'abcdef', 'ABCDEF')`,
    quote_id: 'gen_random_uuid()',
    created_at: 'one.created_at - make_interval(secs => n)',
  },
  folio: {
    number: `'N' || n`,
    reservation_id: 'gen_random_uuid()',
    created_at: 'one.created_at - make_interval(secs => n)',
  },
  payment: { external_id: `'x' || n`, created_at: 'one.created_at - make_interval(secs => n)' },
  refund: { external_id: `'x' || n`, created_at: 'one.created_at - make_interval(secs => n)' },
  // A seal is bound to its row.
  guest: {
    sealed: 'null',
    name_search: `one.name_search || n`,
    created_at: 'one.created_at - make_interval(secs => n)',
    updated_at: 'one.updated_at - make_interval(secs => n)',
  },
  receivable: { id: idOf('receivable', 'n'), number: 'n + 100000', issued_on: 'one.issued_on - n % 300' },
  payable: { id: idOf('payable', 'n'), number: `'N' || n`, issued_on: 'one.issued_on - n % 300' },
  journal_entry: { sequence: 'n + 100000', source_id: 'gen_random_uuid()' },
  message: {
    recipient: 'null',
    text: 'null',
    dedupe_key: `'n' || n`,
    created_at: 'one.created_at - make_interval(secs => n)',
  },
  issue: {
    sealed: 'null',
    number: 'n + 100000',
    source_key: 'null',
    next_due_at: 'one.next_due_at + make_interval(secs => n)',
    created_at: 'one.created_at - make_interval(secs => n)',
  },
}

/** Further tables that grow, with SQL of columns where their types do not say enough. The n-th rows of tables that grow belong together. */
const made: Record<string, Record<string, string>> = {
  posting_event: { property_id: ':property' },
  receipt: { property_id: ':property' },
  cash_movement: { kind: `'manual'`, amount: '100 * n' },
  inventory_movement: { property_id: ':property' },
  pos_order: { property_id: ':property' },
  housekeeping_task: { property_id: ':property', kind: `'departure'`, status: `'open'` },
  privacy_request: { kind: `'access'`, guest_id: 'gen_random_uuid()' },
  payment_exception: { property_id: ':property', kind: `'outcome_unknown'` },
  // Of bills and documents that were paid.
  payable_installment: { settled: 'one.amount' },
  receivable_installment: { settled: 'one.amount' },
}

/** The row that is copied, where not any will do. */
const originals: Partial<Record<keyof typeof countedLists, string>> = {
  folio: 'reservation_id is not null',
  receivable: `status = 'issued'`,
  payable: `status = 'draft'`,
  issue: `source = 'staff'`,
}

/** Lists by their routes, each with the filters that people use; `:property` stands for one of the house. */
const measured: Record<string, string[]> = {
  'reservations.list': [
    '',
    'propertyId=:property',
    'status=confirmed',
    'sort=-createdAt',
    'sort=arrival',
    'sort=holdExpiresAt',
    'sort=-holdExpiresAt',
  ],
  'bookings.list': ['', 'propertyId=:property', 'sort=-createdAt'],
  'folios.list': ['', 'propertyId=:property', 'status=open', 'kind=guest'],
  'payments.list': ['', 'propertyId=:property', 'status=captured'],
  'refunds.list': [''],
  'guests.list': ['', 'sort=name', 'sort=-updatedAt'],
  'receivables.list': ['', 'status=issued', 'sort=createdAt', 'sort=total', 'sort=-total', 'sort=open', 'sort=-open'],
  'payables.list': ['', 'status=draft', 'sort=createdAt', 'sort=gross', 'sort=-gross', 'sort=open', 'sort=-open'],
  'ledgerEntries.list': ['', 'kind=standard'],
  'messages.list': ['', 'propertyId=:property', 'sort=-createdAt'],
  'issues.list': ['', 'sort=-createdAt', 'sort=priority', 'sort=-priority', 'propertyId=:property&sort=-createdAt'],
  'postingEvents.list': ['', 'status=posted'],
  'receipts.list': [''],
  'cashMovements.list': ['', 'kind=manual'],
  'inventoryMovements.list': ['', 'propertyId=:property', 'sort=occurredOn', 'sort=-createdAt'],
  'posOrders.list': ['', 'propertyId=:property', 'sort=-createdAt', 'sort=businessDate'],
  'housekeepingTasks.list': ['', 'propertyId=:property', 'status=open'],
  'privacyRequests.list': ['', 'status=received'],
  'paymentExceptions.list': ['', 'status=open'],
  'payableInstallments.list': ['few', 'dueFrom=2001-01-01&few'],
  'receivableInstallments.list': ['few', 'dueFrom=2001-01-01&few'],
}

/** Ends a query that finds few of the rows that are added. */
const few = /&?few$/

/** Rows that a page may visit beyond what one of a small table does: those of the page and beside them. */
const spare = 200

const paged = routes.filter(
  ({ method, query }) =>
    method === 'GET' && query !== undefined && 'page' in ((query as { properties?: object }).properties ?? {}),
)

describe('Lists and the size of their tables', function () {
  this.timeout(240_000)
  const world = useWorld()
  let house: House
  let owner: Desk
  let token: string

  const rows = <Row = Record<string, unknown>>(text: string, values: unknown[] = []) =>
    sql<Row>(world.database.admin, text, values)
  const one = async (text: string, values: unknown[] = []) => (await rows<{ n: number }>(text, values))[0]?.n ?? 0

  before(async () => {
    house = await makeHouse({ units: 4, deposit: null })
    await forgetLimits(world)
    const person = await makeUser()
    await house.inHouse((trx) => addMembership(trx, { userId: person.userId, role: 'owner', propertyIds: null }))
    ;({ token } = await signIn(world, person))
    owner = deskOf(world, house.tenantId, token)
    const held = await makeHold(house, {})
    const paymentId = await pay(house, held, 'all')
    await world.drain({ starts: 2_000 })
    const refund = { amount: 100, reason: 'error' }
    done(await owner.send('POST', `payments/${paymentId}/refunds`, refund, { idempotencyKey: 'refund' }), 201)
    await makePayables(house)
    await makeReceivables(house)
    const { data } = done(await owner.get('issues/categories?limit=1'))
    const issue = { propertyId: house.propertyId, categoryId: data[0].id, title: 'A noise' }
    done(await owner.send('POST', 'issues', issue), 201)
    await world.drain({ starts: 2_000 })
  })

  const count = async (list: string): Promise<[number, number]> => [
    await one(`select count(*)::int as n from ${list} where tenant_id = ?`, [house.tenantId]),
    await one(`select coalesce(sum(n), 0)::int as n from list_count where list = ? and tenant_id = ?`, [
      list,
      house.tenantId,
    ]),
  ]

  it('counts what there is, by every column, before its changes are added up and after', async () => {
    const differing = async () => {
      const found: unknown[] = []
      for (const [list, columns] of Object.entries(countedLists)) {
        const by = columns.join(', ')
        const keys = columns.map((column) => `c.${column} is not distinct from t.${column}`).join(' and ')
        found.push(
          ...(await rows(
            `select '${list}' as list, t.*, c.counted from (select tenant_id, ${by}, count(*)::int as there from ${list} group by tenant_id, ${by}) t
             full join (select tenant_id, ${by}, sum(n)::int as counted from list_count where list = '${list}' group by tenant_id, ${by} having sum(n) <> 0) c
             on c.tenant_id = t.tenant_id and ${keys} where t.there is distinct from c.counted`,
          )),
        )
      }
      return found
    }
    expect(await differing()).to.deep.equal([])
    const waiting = () => one(`select count(*)::int as n from list_count where list = 'reservation'`)
    await house.inHouse(async (trx) => {
      for (let change = 0; change < 60; change += 1)
        await sql(
          trx,
          `update reservation set status = case status when 'confirmed' then 'no_show' else 'confirmed' end`,
        )
    })
    const before = await waiting()
    expect(await differing()).to.deep.equal([])
    expect(await inPlatform(foldCounts)).to.be.above(100)
    expect(await waiting()).to.be.below(before / 10)
    expect(await differing()).to.deep.equal([])
  })

  it('visits no more rows for a page of a hundred times the table, with the filters that people use', async () => {
    const paths = Object.entries(measured).flatMap(([id, queries]) => {
      const route = routes.find((each) => each.id === id) ?? expect.fail(`no route ${id}`)
      const path = route.path.replace('/api/tenants/:tenantId/', '')
      return queries.map((query) => ({
        path: `${path}?limit=20&${query.replace(':property', house.propertyId).replace(few, '')}`,
        isFew: few.test(query),
      }))
    })
    const request = clientOf(world.baseUrl)
    const look = async () => {
      await forgetLimits(world)
      await rows(`vacuum analyze`)
      const found = new Map<string, { visits: number; total: number }>()
      for (const { path } of paths) {
        const reply: { total?: number } = {}
        const asked = await readsOf(async () => {
          // Rows that are made from the types of columns need not meet the contract.
          const { status, body } = await request('GET', `/api/tenants/${house.tenantId}/${path}`, { token })
          expect(status, path).to.equal(200)
          reply.total = body.meta.total
        })
        found.set(path, {
          visits: await rowsVisited(world.database, house.tenantId, asked),
          total: reply.total ?? 0,
        })
      }
      return found
    }
    const grow = async (from: number, until: number) => {
      await world.database.admin.transaction(async (trx) => {
        // The rows are as they should be; what it takes to make them is not what is measured.
        await sql(trx, `set local session_replication_role = replica`)
        if (from === 1) await uncheck(trx)
        for (const [table, changed] of Object.entries(made))
          await makeRows(trx, table, {
            tenantId: house.tenantId,
            from,
            until,
            changed: Object.fromEntries(
              Object.entries(changed).map(([name, text]) => [name, text.replace(':property', `'${house.propertyId}'`)]),
            ),
            growing: new Set([...Object.keys(made), 'payable', 'receivable']),
          })
        for (const [table, changed] of Object.entries(copies)) {
          const columns = await sql<{ name: string }>(
            trx,
            `select column_name as name from information_schema.columns where table_schema = 'public' and table_name = ? and is_generated = 'NEVER'
               and is_identity = 'NO' order by ordinal_position`,
            [table],
          )
          const values: Record<string, string> = { id: 'gen_random_uuid()', ...changed }
          const names = columns.map(({ name }) => `"${name}"`).join(', ')
          await sql(
            trx,
            `insert into ${table} (${names}) select ${columns.map(({ name }) => values[name] ?? `one."${name}"`).join(', ')}
             from (select * from ${table} where tenant_id = '${house.tenantId}' and ${originals[table as keyof typeof copies] ?? 'true'} order by id limit 1) one, generate_series(${from}, ${until - 1}) n`,
          )
        }
        await sql(trx, `delete from list_count`)
        for (const [table, columns] of Object.entries(countedLists)) {
          const by = columns.join(', ')
          await sql(
            trx,
            `insert into list_count (tenant_id, list, ${by}, n, folded) select tenant_id, '${table}', ${by}, count(*), true from ${table} group by tenant_id, ${by}`,
          )
        }
      })
    }
    await grow(1, 50)
    const small = await look()
    await grow(50, 5_000)
    const large = await look()
    const grown = paths.flatMap(({ path, isFew }) => {
      const [a, b] = [small.get(path), large.get(path)]
      if (!a || !b || (isFew ? b.total > 50 : b.total < 4_950)) return [`${path}: ${b?.total} of 5,000`]
      return b.visits <= a.visits * 1.5 + spare ? [] : [`${path}: ${a.visits} of ${a.total}, ${b.visits} of ${b.total}`]
    })
    expect(grown).to.deep.equal([])
    for (const list of Object.keys(countedLists)) {
      const [there, counted] = await count(list)
      expect(there, list).to.equal(counted)
    }
  })

  it('measures every list but those that are named', () => {
    const names = paged.map(({ id }) => id).filter((id) => !(id in measured))
    expect(names.toSorted()).to.deep.equal([...unmeasured].toSorted())
  })
})
