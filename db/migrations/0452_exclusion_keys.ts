import type { Knex } from 'knex'

/** Keys of exclusion constraints that no query asks for: PostgreSQL must not read tables through their indexes (decision 26). */
const constraints = [
  [
    'age_category',
    'age_category_one_at_an_age',
    ['tenant_id', 'property_id'],
    [],
    `int4range(min_age, max_age, '[]') * '(,)'::int4range`,
    'deferrable initially deferred',
  ],
  [
    'fiscal_period',
    'fiscal_period_apart',
    ['tenant_id', 'book_id'],
    [],
    `daterange(starts_on, ends_on, '[]') * '(,)'::daterange`,
    `where ((kind || '') = 'regular')`,
  ],
  [
    'fiscal_year',
    'fiscal_year_apart',
    ['tenant_id', 'book_id'],
    [],
    `daterange(starts_on, ends_on, '[]') * '(,)'::daterange`,
    '',
  ],
  [
    'posting_rule',
    'posting_rule_apart',
    ['tenant_id', 'book_id'],
    ['event', 'line', 'match_key'],
    `daterange(valid_from, valid_to, '[]') * '(,)'::daterange`,
    '',
  ],
  [
    'season_range',
    'season_range_one_at_a_time',
    ['tenant_id', 'property_id'],
    [],
    `daterange("from", "to", '[]') * '(,)'::daterange`,
    'deferrable initially deferred',
  ],
  [
    'subscription_item',
    'subscription_item_once',
    ['tenant_id', 'add_on_id'],
    [],
    `tstzrange(starts_at, ends_at) * '(,)'::tstzrange`,
    '',
  ],
  [
    'tax_rate',
    'tax_rate_apart',
    ['tenant_id', 'tax_code_id'],
    [],
    `daterange(valid_from, valid_to, '[]') * '(,)'::daterange`,
    '',
  ],
  [
    'tax_rule',
    'tax_rule_one_at_a_time',
    ['tenant_id', 'property_id'],
    ['code'],
    `daterange(valid_from, valid_to, '[]') * '(,)'::daterange`,
    '',
  ],
  [
    'unit_assignment',
    'unit_assignment_no_overlap',
    ['tenant_id', 'unit_id'],
    [],
    `during * '(,)'::daterange`,
    `where ((status || '') in ('proposed', 'locked', 'occupied', 'blocked')) deferrable`,
  ],
] as const

export const up = async (knex: Knex) => {
  for (const [table, name, ids, texts, range, rest] of constraints) {
    const keys = [...ids.map((id) => `uuid_send(${id})`), ...texts.map((text) => `(${text} || '')`)]
    await knex.raw(
      `alter table ${table} drop constraint ${name}, add constraint ${name}
         exclude using gist (${keys.map((key) => `${key} with =`).join(', ')}, (${range}) with &&) ${rest}`,
    )
  }
}
