export const App = () => <div>hi</div>;
