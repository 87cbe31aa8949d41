import type { Knex } from 'knex'

/** Accounts of the default chart as the departments want them: allowances beside the revenue that they lower, sales of assets apart, roles of depreciation. */
export const up = async (knex: Knex) => {
  const sections = [
    ['4.1.09', 'allowances', 'rooms_allowances'],
    ['4.2.09', 'allowances', 'food_beverage_allowances'],
    ['4.3.09', 'allowances', 'other_operated_allowances'],
    ['4.4.06', 'other_income', 'non_operating'],
  ]
  for (const [code, from, to] of sections)
    await knex.raw(`update account set section = ? where code = ? and section = ?`, [to ?? '', code ?? '', from ?? ''])
  const roles = [
    ['1.2.9.01', 'accumulated_depreciation', 'asset'],
    ['6.8.01', 'depreciation', 'expense'],
  ]
  for (const [code, role, accountClass] of roles)
    await knex.raw(
      `update account a set role = :role where a.code = :code and a.class = :accountClass and a.postable and a.control is null and a.role is null
         and a.status = 'active' and not exists (select from account o where o.tenant_id = a.tenant_id and o.book_id = a.book_id and o.role = :role)`,
      { role: role ?? '', code: code ?? '', accountClass: accountClass ?? '' },
    )
}
