interface View<T> {
  readonly id: string;
  data?: T;
}

export const show = async <T,>(view: View<T>): Promise<void> => {
  const text = `view ${view.id}`; // a template
  await fetch("/api", { method: "POST", body: text });
};
