import { expect } from 'chai'
import { Tenant } from '../../db/admin/models.ts'
import { User } from '../../db/auth/models.ts'
import { inPlatform, sql, withoutTenant } from '../../db/lib/connection.ts'
import { fromDatabase } from '../../db/lib/errors.ts'
import { useDatabase } from '../support/database.ts'

const thrownBy = async (work: () => Promise<unknown>): Promise<unknown> => {
  try {
    await work()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}

describe('an error of the database', () => {
  const held = useDatabase()

  before(() =>
    sql(
      held.database.admin,
      `create function fail_with(state text) returns boolean language plpgsql as $$ begin raise exception 'as asked' using errcode = state; end $$`,
    ),
  )

  const user = { email: 'One@House.example', emailKey: 'one@house.example', name: 'One' }

  it('becomes the same reply whether SQL or a model met it', async () => {
    await withoutTenant(async (trx) => await User.query(trx).insert(user))
    const byModel = await thrownBy(() => withoutTenant(async (trx) => await User.query(trx).insert(user)))
    const bySql = await thrownBy(() =>
      withoutTenant((trx) =>
        sql(trx, `insert into app_user (email, email_key, name) values (?, ?, ?)`, Object.values(user)),
      ),
    )
    for (const error of [byModel, bySql]) expect(fromDatabase(error)).to.include({ status: 409 })
  })

  it('repeats the work after a serialisation failure that a model met', async () => {
    let runs = 0
    await withoutTenant(async (trx) => {
      runs += 1
      const failing = runs === 1
      await User.query(trx).patch({ name: 'Two' }).where({ emailKey: user.emailKey })
      // Raised inside a statement of the model, as PostgreSQL would raise its own.
      if (failing) await User.query(trx).whereRaw(`fail_with('40001')`)
    })
    expect(runs).to.equal(2)
  })

  it('is 409 to who lost against others again and again, and says when to try again', async () => {
    for (const state of ['40001', '40P01']) {
      let runs = 0
      const error = await thrownBy(() =>
        withoutTenant(async (trx) => {
          runs += 1
          await sql(trx, 'select fail_with(?)', [state])
        }),
      )
      expect(runs).to.equal(4)
      expect(error).to.include({ status: 409, code: 'inventory_contended', retryAfterSeconds: 1 })
    }
  })

  it('is 403 self_approval of every constraint that keeps authors from approving', async () => {
    const found = await sql<{ name: string }>(
      held.database.admin,
      `select conname as name from pg_constraint where contype = 'c' and pg_get_constraintdef(oid) ~ 'self_approved|automatic OR'
         and pg_get_constraintdef(oid) ~ '<>|DISTINCT FROM' and pg_get_constraintdef(oid) ~ '(proposed|created|requested|closed)_by|editors' order by conname`,
    )
    expect(found.map(({ name }) => name)).to.include.members(['purchase_order_two_people', 'purchase_order_no_editor'])
    for (const { name } of found) {
      const error = Object.assign(new Error(name), { code: '23514', constraint: name })
      expect(fromDatabase(error), name).to.include({ status: 403, code: 'self_approval' })
    }
  })

  it('is nobody’s business where nobody foresaw it', async () => {
    const error = await thrownBy(() =>
      inPlatform(async (trx) => await Tenant.query(trx).select('no_such_column' as 'id')),
    )
    expect(fromDatabase(error)).to.equal(null)
  })
})
