import { kitTaskKinds, recipeKinds, servedMealPlans } from '../../config/inventory.ts'
import { sampleId } from '../../config/samples.ts'
import {
  AnyOf,
  Currency,
  Instant,
  Int,
  List,
  Literal,
  Nullable,
  Obj,
  OneOf,
  Opt,
  Sparse,
  Text,
  Uuid,
} from '../../config/schema.ts'
import {
  archiveRecipe,
  changeRecipe,
  createRecipe,
  listRecipes,
  readRecipe,
  recipeSorts,
} from '../../db/inventory/index.ts'
import type { RecipeShown } from '../../db/inventory/index.ts'
import type { Admission } from '../lib/caller.ts'
import { resource } from '../lib/resource.ts'
import { stamps } from '../properties/schemas.ts'
import { Code, Held, Measure, Name, path, Quantity } from './schemas.ts'
import { seesValue } from './values.ts'

const place = { propertyId: Uuid, locationId: Uuid }
/** Uses the kit up by itself: with a completed task, or for the guests of a night whose plan includes the meal. No types means all of them. */
const Rule = AnyOf([
  Obj({
    on: Literal('task'),
    ...place,
    unitTypeIds: Opt(List(Uuid, { max: 50 })),
    taskKinds: List(OneOf([...kitTaskKinds]), { min: 1, max: 8 }),
  }),
  Obj({ on: Literal('meal'), ...place, mealPlans: List(OneOf([...servedMealPlans]), { min: 1, max: 4 }) }),
])
const head = {
  id: Uuid,
  code: Code,
  name: Name,
  kind: OneOf([...recipeKinds]),
  /** The item that a preparation makes; null for other recipes. */
  outputItemId: Nullable(Uuid),
  rules: List(Rule, { max: 20 }),
  currentVersion: Int(1, 2_147_483_647),
  /** Portions; of a preparation the quantity that it makes, in the base of its output. */
  yield: Held,
  status: OneOf(['active', 'archived']),
  ...stamps,
}
const Recipe = Obj(
  {
    ...head,
    components: List(
      Obj({
        itemId: Nullable(Uuid),
        recipeId: Nullable(Uuid),
        quantity: Held,
        measure: Measure,
        /** Basis points that are lost in the making. */
        lossRate: Int(0, 9_000),
      }),
      { max: 50 },
    ),
    versions: List(Obj({ number: Int(1, 2_147_483_647), yield: Held, createdBy: Nullable(Uuid), createdAt: Instant }), {
      max: 20,
    }),
    /** Of a portion now (of a preparation: of one of its base), in each currency in which everything in it has a price. Minor units with 4 places, for display alone. */
    cost: List(Obj({ currency: Currency, amount: Text(1, 30) }), { max: 200 }),
  },
  { title: 'Recipe' },
)

const show = (recipe: RecipeShown, admission: Admission) => (seesValue(admission) ? recipe : { ...recipe, cost: [] })

const recipes = resource({
  name: 'recipes',
  subject: 'Recipe',
  table: 'recipe',
  path: `${path}/recipes`,
  param: 'recipeId',
  record: Recipe,
  lockedBy: 'command',
  read: readRecipe,
  show,
})

const list = recipes.list({
  summary: 'List recipes, kits and preparations',
  description: '`itemId` asks for recipes that use the item, or make it. `q` looks in code and name.',
  query: {
    kind: Opt(OneOf([...recipeKinds])),
    itemId: Opt(Uuid),
    status: Opt(OneOf(['active', 'archived'])),
    q: Opt(Text(1, 120)),
  },
  sort: { by: Object.keys(recipeSorts) as (keyof typeof recipeSorts)[], usual: 'code' },
  of: Obj(head, { title: 'RecipeListed' }),
  example: { kind: 'drink' },
  find: ({ trx, filter }) => listRecipes(trx, filter),
})

const components = List(
  Obj({
    itemId: Opt(Uuid),
    recipeId: Opt(Uuid),
    quantity: Quantity,
    measure: Opt(Measure),
    lossRate: Opt(Int(0, 9_000)),
  }),
  { min: 1, max: 50 },
)
const wrong = ['recipe_cycle', 'recipe_too_deep', 'reference_not_found', 'quantity_too_small'] as const

const create = recipes.create({
  summary: 'Create a recipe, kit or preparation',
  description:
    'Each component is an item or another recipe, with its share of loss. A recipe inside is measured in portions (`un`), a preparation in measures of what it makes. The measure is the base unless said.',
  errors: ['duplicate_code', ...wrong],
  body: Obj({
    code: Code,
    name: Name,
    kind: OneOf([...recipeKinds]),
    outputItemId: Opt(Uuid),
    rules: Opt(List(Rule, { max: 20 })),
    yield: Quantity,
    components,
  }),
  example: {
    code: 'GT',
    name: 'Gin and tonic',
    kind: 'drink',
    yield: '1',
    components: [{ itemId: sampleId('itemId'), quantity: '5', measure: 'cl' }],
  },
  command: ({ trx, body }) => createRecipe(trx, body),
})

const read = recipes.read({ summary: 'Read a recipe with components, versions and cost' })

const change = recipes.change({
  summary: 'Change a recipe by adding a version',
  description: 'Components and yield add a version, which orders use from their close on; name and rules do not.',
  errors: ['invalid_transition', ...wrong],
  body: Sparse(Obj({ name: Name, rules: List(Rule, { max: 20 }), yield: Quantity, components })),
  example: { name: 'Gin and tonic, long' },
  command: ({ trx, id, body, expectedVersion }) => changeRecipe(trx, id, body, expectedVersion),
})

const archive = recipes.act('archive', {
  summary: 'Retire a recipe that nothing sells or uses',
  action: 'delete',
  errors: ['in_use'],
  command: ({ trx, id, expectedVersion }) => archiveRecipe(trx, id, expectedVersion),
})

export const routes = [list, create, read, change, archive]
