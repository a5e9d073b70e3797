// An object seen through a few replaced methods.

/** The same object with some methods replaced. */
export function overlay<T extends object>(target: T, methods: Partial<T>): T {
  return new Proxy(target, {
    get: (object, key) => {
      const found: unknown = key in methods ? Reflect.get(methods, key) : Reflect.get(object, key, object);
      return typeof found === "function" ? found.bind(key in methods ? methods : object) : found;
    },
  });
}
