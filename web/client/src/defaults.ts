// Types only: a header that the connection fills in is no longer asked for at every call.

type Methods = "get" | "put" | "post" | "delete" | "options" | "head" | "patch" | "trace";

/** The headers without those in `Filled`, which may still be given; `?` if none of the others must be. */
type Headers<Parameters, Filled extends string> = Parameters extends { header?: infer Asked }
  ? [Asked] extends [never] // a route that is asked without headers, such as a list
    ? { header?: never }
    : Asked extends object
      ? Parted<Omit<Asked, Filled> & Partial<Pick<Asked, Filled & keyof Asked>>>
      : { header?: Asked }
  : { header?: never };

type Parted<Asked> = {} extends Asked ? { header?: Asked } : { header: Asked };

type Operation<Described, Filled extends string> = Described extends { parameters: infer Parameters }
  ? Omit<Described, "parameters"> & {
      parameters: Omit<Parameters, "header"> & Headers<Parameters, Filled>;
    }
  : Described;

/** The routes, with the headers in `Filled` optional everywhere. */
export type WithDefaults<Paths, Filled extends string> = {
  [Path in keyof Paths]: {
    [Key in keyof Paths[Path]]: Key extends Methods ? Operation<Paths[Path][Key], Filled> : Paths[Path][Key];
  };
};
