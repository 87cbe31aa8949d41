import { Obj, PageOf, PageQuery, pageMeta } from '../../config/schema.ts'
import type { Properties, Schema, Static } from '../../config/schema.ts'
import type { Condition } from '../../db/lib/conditions.ts'
import type { Trx } from '../../db/lib/connection.ts'
import type { Page, Paging, Sort } from '../../db/lib/paging.ts'
import { can } from './access/kinds.ts'
import type { TenantAccess } from './access/kinds.ts'
import type { Admission } from './caller.ts'
import { asJudged } from './record.ts'
import type { AnyRoute, ExampleOf, Input, Loose, RouteOptions } from './route.ts'
import { sortOf, SortQuery } from './sort.ts'

type Given<Path extends string, B extends Schema | undefined = undefined> = Input<
  TenantAccess,
  Path,
  undefined,
  undefined,
  B,
  undefined
>
/** `id`: of the record that the path names. */
type OfRecord<Path extends string, B extends Schema | undefined = undefined> = Given<Path, B> & { id: string }

/** Options that each endpoint states for itself. */
type Options = Omit<RouteOptions, 'id' | 'status' | 'ok' | 'record' | 'part'> & {
  /** `<name>.<verb>` by default. */
  id?: string
  /** Action required on the subject, if it is not the verb. */
  action?: string
  /** Open also where the feature of the subject has ended: for reading, and for what ends something. */
  withoutFeature?: true
}
type WithBody<B extends Schema | undefined> = Options & { body?: B; example?: ExampleOf<B> }

type Shared<Path extends string, Param extends string, R extends Schema, Found> = {
  /** Begins the ids of the endpoints, such as `promoCodes`. */
  name: string
  subject: string
  table: string
  /** Path of the collection. */
  path: Path
  /** Names one record in the path, such as `promoCodeId`. */
  param: Param
  /** Schema of what is answered. */
  record: R
  /** The column that `param` means, where it is not `id`. */
  column?: string
  /** The commands lock the record themselves, and compare `expectedVersion`. */
  lockedBy?: 'command'
  /** Reads one record. 404. */
  read: (trx: Trx, id: string, params: Given<Path>['params']) => Promise<Found>
}
type Shown<R extends Schema, Found> = (record: Found, admission: Admission) => Loose<Static<R>>
/** `show` makes a reply of a record; it may be left out where the record is one. */
type Showing<R extends Schema, Found> = [Found] extends [Loose<Static<R>>]
  ? { show?: Shown<R, Found> }
  : { show: Shown<R, Found> }

type Filter<F extends Properties, S extends string> = Static<ReturnType<typeof Obj<F>>> &
  Paging & { scope: Condition; sort: Sort<S> }

type ListOptions<
  Path extends string,
  F extends Properties,
  S extends string,
  L extends Schema | undefined,
  Found,
> = Omit<Options, 'action'> & {
  /** Filters beside `page`, `limit` and `sort`. */
  query?: F
  /** Fields to sort by, and the usual order. The command ends every order with the id. */
  sort?: { by: readonly S[]; usual: string }
  /** Schema of one entry, where a list says less than the record. `show` is not asked then. */
  of?: L
  example?: Partial<Static<ReturnType<typeof Obj<F>>>> & { page?: number; limit?: number; sort?: string }
  /** Reads a page. `filter` holds what was asked for, the sort, and the scope of the caller's role: hand all of it on. */
  find: (
    input: Omit<Given<Path>, 'query'> & { filter: Filter<F, S> },
  ) => Promise<Page<L extends Schema ? Loose<Static<L>> : Found>>
}

const camel = (verb: string) => verb.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())

/**
 * One entity at the edge. Says once what its endpoints share; `list`, `create`, `read`, `change`, `remove` and `act` make ordinary routes, to be
 * listed in `routes`. Of these follow id, method, path, access, scope, record lock, If-Match, `returns` and the reply:
 *
 * | maker            | id               | request                    | action             | the command answers                              |
 * |------------------|------------------|----------------------------|--------------------|--------------------------------------------------|
 * | `list`           | `<name>.list`    | GET path                   | read               | (`find`) a page                                  |
 * | `create`         | `<name>.create`  | POST path, 201             | create             | the new id, which is read, or the record         |
 * | `read`           | `<name>.read`    | GET path/:param            | read               | –                                                |
 * | `change`         | `<name>.update`  | PATCH path/:param          | update             | nothing: the record is read again; or the record |
 * | `remove`         | `<name>.delete`  | DELETE path/:param         | delete             | the record as it was                             |
 * | `act('go-live')` | `<name>.goLive`  | POST path/:param/go-live   | the verb: `go_live`| nothing: the record is read again; or the record |
 *
 * An endpoint says its summary, and where it has them description, query and sort, body, example, errors, idempotency, and the `action` where that
 * is not the verb. Its `command` calls one command of db, which locks, checks and writes:
 *
 *     const taxRules = resource({ name: 'taxRules', subject: 'TaxRule', table: 'tax_rule', path, param: 'taxRuleId', record: TaxRule, read: readTaxRule })
 *     const change = taxRules.change({ summary: '…', body, command: ({ trx, id, body }) => changeTaxRule(trx, id, body) })
 *
 * The scope of the role reaches a list as `filter.scope`. One record is judged after it is read, so it must have the fields that conditions of roles
 * speak of, such as `propertyId`. An endpoint that does not fit (another reply, a dry run, no record) is written with `route`, with `one` and
 * `lock` of the resource: nothing here is to be switched on or off.
 */
export const resource = <const Path extends string, const Param extends string, R extends Schema, Found extends object>(
  shared: Shared<Path, Param, R, Found> & Showing<R, Found>,
) => {
  const { name, subject, table, path, param, record, column, lockedBy, read }: Shared<Path, Param, R, Found> = shared
  const show: ((record: Found, admission: Admission) => unknown) | undefined = shared.show
  const one = `${path}/:${param}` as const
  type One = typeof one
  const lock = { table, param, ...(column ? { column } : {}), ...(lockedBy ? { lockedBy } : {}) }

  const idOf = (params: Readonly<Record<string, string>>): string => params[param] ?? ''
  const shown = (found: Found, admission: Admission): unknown => (show ? show(found, admission) : found)
  const readShown = async ({ trx, params, admission }: Given<Path>, id: string) =>
    shown(await read(trx, id, params), admission)
  const route = (
    verb: string,
    { id = `${name}.${verb}`, withoutFeature, ...options }: Options,
    action: string,
    command?: unknown,
  ) => ({
    ...options,
    id,
    access: can(options.action ?? action, subject, withoutFeature ? { withoutFeature } : {}),
    part: { resource: name, verb, ...(command === undefined ? {} : { command }) },
    returns: record as Schema,
  })
  /** An endpoint of one record, whose command answers nothing where the record is to be read again. */
  const commanded = <B extends Schema | undefined>(
    command: (input: OfRecord<One, B>) => Promise<Found | void>,
  ): AnyRoute['handle'] => {
    const handle = async (input: Given<One, B>) => {
      const id = idOf(input.params)
      const done = await command({ ...input, id })
      return done === undefined ? readShown(input as Given<Path>, id) : shown(done, input.admission)
    }
    return handle
  }

  return {
    one,
    lock,
    list: <
      F extends Properties = Record<never, never>,
      const S extends string = never,
      L extends Schema | undefined = undefined,
    >({
      query,
      sort,
      of,
      find,
      ...options
    }: ListOptions<Path, F, S, L, Found>): AnyRoute => ({
      ...route('list', options, 'read'),
      part: { resource: name, verb: 'list', ...(sort ? { sorts: sort.by } : {}) },
      method: 'GET',
      path,
      query: Obj({ ...PageQuery, ...(sort ? SortQuery : {}), ...query }),
      returns: PageOf(of ?? record),
      handle: async (input: Given<Path> & { query: Filter<F, S> & { sort?: string } }) => {
        const { sort: asked, ...given } = input.query
        const filter = {
          ...given,
          sort: sort ? sortOf(asked, sort.by, sort.usual) : [],
          scope: input.admission.scope('read', subject),
        }
        const { total, rows } = await find({ ...input, filter: filter as unknown as Filter<F, S> })
        return {
          data: of ? rows : rows.map((row) => shown(row as Found, input.admission)),
          meta: pageMeta(input.query.page, input.query.limit, total),
        }
      },
    }),
    create: <B extends Schema | undefined = undefined>({
      command,
      ...options
    }: WithBody<B> & { command: (input: Given<Path, B>) => Promise<string | Found> }): AnyRoute => ({
      ...route('create', options, 'create'),
      method: 'POST',
      path,
      status: 201,
      handle: async (input: Given<Path, B>) => {
        const made = await command(input)
        return typeof made === 'string' ? readShown(input as Given<Path>, made) : shown(made, input.admission)
      },
    }),
    read: (options: Options): AnyRoute => ({
      ...route('read', options, 'read'),
      method: 'GET',
      path: one,
      handle: async ({ trx, params, admission }: Given<Path>) => {
        const id = idOf(params)
        const found = await read(trx, id, params)
        admission.check('read', subject, asJudged(table, id, found))
        return shown(found, admission)
      },
    }),
    change: <B extends Schema | undefined = undefined>({
      command,
      ...options
    }: WithBody<B> & { command: (input: OfRecord<One, B>) => Promise<Found | void> }): AnyRoute => ({
      ...route('update', options, 'update', command),
      method: 'PATCH',
      path: one,
      record: lock,
      handle: commanded(command),
    }),
    remove: ({ command, ...options }: Options & { command: (input: OfRecord<One>) => Promise<Found> }): AnyRoute => ({
      ...route('delete', options, 'delete', command),
      method: 'DELETE',
      path: one,
      record: lock,
      handle: commanded(command),
    }),
    act: <B extends Schema | undefined = undefined>(
      verb: string,
      { command, ...options }: WithBody<B> & { command: (input: OfRecord<One, B>) => Promise<Found | void> },
    ): AnyRoute => ({
      ...route(camel(verb), options, verb.replaceAll('-', '_'), command),
      method: 'POST',
      path: `${one}/${verb}`,
      record: lock,
      handle: commanded(command),
    }),
  }
}
